import Foundation
import Glibc
import TestSupport
import Testing

/// Pipes without a writer in place of files: nothing waits for them.
@Suite struct PipeTests {
    @Test func `a configuration that is a pipe is refused`() async throws {
        try await Home.with { home in
            let pipe = home.folder + "/pipe"
            #expect(mkfifo(pipe, 0o600) == 0)
            let ended = try await home.lanyard(["rule", "list"], ["LANYARD_CONFIG": pipe])
            #expect(ended.status > 0 && ended.errors.contains("/pipe: is not a regular file\n"), "\(ended)")
        }
    }

    @Test func `certificates that are to come from a pipe are refused`() async throws {
        try await World.with { world in
            let pipe = world.folder + "/pipe"
            #expect(mkfifo(pipe, 0o600) == 0)
            let url = "\(world.sandbox.resource)/common/hello.git"
            let ended = try await world.lanyard(
                ["login", url], world.browser(as: "alice@contoso.example").merging(["LANYARD_CA_FILE": pipe]) { $1 })
            let complaint = "/pipe can't be read: it is not a regular file\n"
            #expect(ended.status > 0 && ended.errors.contains(complaint), "\(ended)")
        }
    }
}
