import Foundation
import TestSupport
import Testing

/// Tools whose own programs no test has, as those run lanyard.
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

            // What is stored anew takes the old one's place.
            _ = try await terraform(home, "store", "app.example:8443", #"{"token":"new"}"#)
            #expect(try await terraform(home, "get", "app.example:8443").output == #"{"token":"new"}"# + "\n")
            for _ in 0..<2 {
                let forgotten = try await terraform(home, "forget", "app.example:8443")
                #expect(forgotten.status == 0 && forgotten.output.isEmpty && forgotten.errors.isEmpty, "\(forgotten)")
            }
            #expect(try await terraform(home, "get", "app.example:8443").output == "{}\n")
        }
    }

    @Test func `git's passwords are not terraform's, and are pnpm's with the nearest path`() async throws {
        try await Home.with(.unlocked) { home in
            for (path, password) in [("", "wide"), ("feed/npm", "near")] {
                let input = "protocol=https\nhost=pkgs.example\npath=\(path)\nusername=u\npassword=\(password)\n"
                _ = try await run(home, "lanyard", ["store"], input)
            }
            #expect(try await terraform(home, "get", "pkgs.example").output == "{}\n")
            for (path, password) in [("feed/npm/registry/", "near"), ("feed/npm", "near"), ("feed/npmx/", "wide")] {
                let ended = try await run(home, "lanyard", ["pnpm", "https://pkgs.example/\(path)"])
                let header = "Basic \(Data("u:\(password)".utf8).base64EncodedString())\n"
                #expect(ended.output == header && ended.status == 0 && ended.errors.isEmpty, "\(ended)")
            }
            for url in [
                "http://pkgs.example/feed/npm/", "https://pkgs.example:444/", "https://pkgs.example.evil.example/",
            ] {
                let ended = try await run(home, "lanyard", ["pnpm", url])
                #expect(ended.output.isEmpty && ended.status == 1, "\(ended)")
            }
        }
    }

    @Test func `a locked keyring is an error at once for tools that can't wait`() async throws {
        try await Home.with(.locked) { home in
            let info = """
                {"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1",
                 "spec": {"interactive": false, "cluster": {"server": "https://pkgs.example"}}}
                """
            for (program, arguments) in [
                ("keyring", ["get", "https://pkgs.example/", "u"]), ("keyring", ["set", "https://pkgs.example/", "u"]),
                ("terraform-credentials-lanyard", ["get", "pkgs.example"]),
                ("lanyard", ["pnpm", "https://pkgs.example/"]),
                ("lanyard", ["kubectl"]),
            ] {
                let ended = try await run(home, program, arguments, "s3cret", ["KUBERNETES_EXEC_INFO": info])
                #expect(ended.status == 1 && ended.output.isEmpty, "\(program) \(ended)")
                #expect(ended.errors.hasPrefix("lanyard: error: "), "\(program) \(ended)")
                #expect(ended.errors.contains("locked") && !ended.errors.contains("s3cret"), "\(program) \(ended)")
            }
        }
    }

    private func terraform(_ home: Home, _ verb: String, _ host: String, _ input: String = "") async throws -> Ended {
        try await run(home, "terraform-credentials-lanyard", [verb, host], input)
    }

    /// Runs lanyard by one of its names.
    private func run(
        _ home: Home, _ name: String, _ arguments: [String], _ input: String = "", _ extra: [String: String] = [:]
    ) async throws -> Ended {
        let link = "\(home.folder)/bin/\(name)"
        if !FileManager.default.fileExists(atPath: link) {
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: Built.lanyard)
        }
        return try await TestSupport.run(
            link, arguments, input: input, environment: home.environment.merging(extra) { $1 },
            folder: home.folder + "/home")
    }
}
