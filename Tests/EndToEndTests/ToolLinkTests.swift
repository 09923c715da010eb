import Foundation
import TestSupport
import Testing

/// Tools that no test can run, imitated.
@Suite struct ToolLinkTests {
    private static let token = #"{"token":"t0ken"}"#

    @Test func `terraform's tokens are for one host and port, and neither git's nor pnpm's`() async throws {
        try await Home.with(.unlocked) { home in
            #expect(try await terraform(home, "get", "app.example:8443").output == "{}\n")
            let stored = try await terraform(home, "store", "app.example:8443", Self.token)
            #expect(stored.status == 0 && stored.output.isEmpty && stored.errors.isEmpty, "\(stored)")
            #expect(try await terraform(home, "get", "app.example:8443").output == Self.token + "\n")
            for other in ["app.example", "app.example:8444", "app.example.evil.example:8443", "sub.app.example:8443"] {
                #expect(try await terraform(home, "get", other).output == "{}\n", "\(other)")
            }
            let git = try await run(home, "lanyard", ["get"], "protocol=https\nhost=app.example:8443\n")
            #expect(git.output.isEmpty && git.status == 0, "\(git)")
            #expect(try await run(home, "lanyard", ["pnpm", "https://app.example:8443/npm/"]).status == 1)

            // A newly stored token replaces the old one.
            _ = try await terraform(home, "store", "app.example:8443", #"{"token":"new"}"#)
            #expect(try await terraform(home, "get", "app.example:8443").output == #"{"token":"new"}"# + "\n")
            for _ in 0..<2 {
                let forgotten = try await terraform(home, "forget", "app.example:8443")
                #expect(forgotten.status == 0 && forgotten.output.isEmpty && forgotten.errors.isEmpty, "\(forgotten)")
            }
            #expect(try await terraform(home, "get", "app.example:8443").output == "{}\n")
        }
    }

    @Test func `git's password for a host is not terraform's`() async throws {
        try await Home.with(.unlocked) { home in
            let input = "protocol=https\nhost=pkgs.example\nusername=u\npassword=wide\n"
            let stored = try await run(home, "lanyard", ["store"], input)
            #expect(stored.status == 0, "\(stored)")
            #expect(try await run(home, "lanyard", ["pnpm", "https://pkgs.example/"]).status == 0)
            #expect(try await terraform(home, "get", "pkgs.example").output == "{}\n")
        }
    }

    @Test func `a password for a locked keyring is an error at once, and isn't shown`() async throws {
        try await Home.with(.locked) { home in
            let set = try await run(home, "keyring", ["set", "https://pkgs.example/", "u"], "s3cret")
            #expect(set.status == 1 && set.output.isEmpty && set.errors.hasPrefix("lanyard: error: "), "\(set)")
            #expect(set.errors.contains("locked") && !set.errors.contains("s3cret"), "\(set)")
        }
    }

    private func terraform(_ home: Home, _ verb: String, _ host: String, _ input: String = "") async throws -> Ended {
        try await run(home, "terraform-credentials-lanyard", [verb, host], input)
    }

    /// Runs lanyard under one of its names.
    private func run(
        _ home: Home, _ name: String, _ arguments: [String], _ input: String = ""
    ) async throws -> Ended {
        let link = "\(home.folder)/bin/\(name)"
        if !FileManager.default.fileExists(atPath: link) {
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: Built.lanyard)
        }
        return try await TestSupport.run(
            link, arguments, input: input, environment: home.environment, folder: home.folder + "/home")
    }
}
