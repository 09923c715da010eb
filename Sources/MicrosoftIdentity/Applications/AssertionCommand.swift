import Addresses
import Files
import OAuth
import PluginWire
import Secrets
import Subprocess
import SystemPackage

/// A user's program that prints an assertion.
struct AssertionCommand: Sendable {
    let path: String
    /// The time limit.
    var patience = Duration.seconds(8)

    /// Runs the program without arguments and returns its output; its error output is dropped because it may contain
    /// secrets.
    func output(atMost limit: Int) async throws(PluginError) -> String {
        var trust = FileTrust()
        if case .writable(let culprit) = trust.judge(path) {
            throw PluginError(
                .invalidRequest,
                "the command \(shown) isn't run: another user could have written \(culprit.displayable(limit: 300))",
                hint: "make it yours or root's, and let no one else write to it")
        }
        do {
            guard let text = try await printed(limit) else { throw failure }
            return text
        } catch let error as PluginError {
            throw error
        } catch is DeadlineExceeded, is CancellationError {
            throw PluginError(
                .unavailable, "the command \(shown) gave no token within \(patience.components.seconds) seconds",
                hint: "run it by hand to see why")
        } catch let error as SubprocessError where error.code == .outputLimitExceeded {
            throw PluginError(
                .invalidRequest, "the command \(shown) prints more than a token", hint: "run it by hand to see it")
        } catch {
            throw PluginError(
                .invalidRequest, "the command \(shown) can't be run", hint: "check its path, and that it is executable")
        }
    }

    private var shown: String { path.displayable(limit: 300) }

    private var failure: PluginError {
        PluginError(.invalidRequest, "the command \(shown) failed", hint: "run it by hand to see why")
    }

    /// Returns the output; nil if the program fails.
    private func printed(_ limit: Int) async throws -> String? {
        try await withDeadline(patience) {
            let result = try await Subprocess.run(
                .path(FilePath(path)), platformOptions: Self.options, input: .none, output: .string(limit: limit),
                error: .discarded)
            return result.terminationStatus.isSuccess ? result.standardOutput : nil
        }
    }

    /// A new session: signals reach the program's children, too, and it has no terminal to prompt on.
    private static var options: PlatformOptions {
        var options = PlatformOptions()
        options.createSession = true
        options.teardownSequence = [
            .gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: .milliseconds(300))
        ]
        return options
    }
}
