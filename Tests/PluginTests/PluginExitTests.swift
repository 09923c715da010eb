import Glibc
import Testing

@testable import PluginHost
@testable import PluginWire

/// Plugins after the host's process ends.
@Suite(.timeLimit(.minutes(2)))
struct PluginExitTests {
    @Test(arguments: [SIGINT, SIGTERM])
    func `a signal to the host stops the plugin and then the run`(_ number: Int32) async {
        await #expect(processExitsWith: .exitCode(42)) { [number] in
            let match = try AuthorityMatch.of(Built.plugin("FakePlugin", name: "fake", arguments: ["hangs"]))
            Task {
                try await Task.sleep(for: .milliseconds(500))
                kill(getpid(), number)
            }
            do {
                _ = try await PluginRunner(environment: [:]).run(.sample(), on: match, user: NobodyThere())
            } catch let error as PluginError where error.code == .cancelled {
                exit(42)
            }
        }
    }
}
