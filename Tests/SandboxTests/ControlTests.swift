import Foundation
import Subprocess
import Testing

@Suite struct ControlTests {
    private static let discovery = "/common/v2.0/.well-known/openid-configuration"

    @Test func `discovery names the issuers as Entra does`() async throws {
        try await withSandbox { sandbox in
            for (realm, issuer) in [
                ("common", "{tenantid}/v2.0"), ("organizations", "{tenantid}/v2.0"),
                ("consumers", "9188040d-6c67-4c5b-b112-36a304b66dad/v2.0"),
                ("contoso.example", "c0a70500-0000-4000-8000-00000c0a7050/v2.0"),
                ("tfp/contosob2c.onmicrosoft.example/B2C_1_susi", "b2cb2cb2-0000-4000-8000-000000b2c0de/v2.0/"),
                ("contosob2c.onmicrosoft.example/b2c_1_edit", "b2cb2cb2-0000-4000-8000-000000b2c0de/v2.0/"),
            ] {
                let answer = try await sandbox.get(
                    "\(sandbox.authority)/\(realm)/v2.0/.well-known/openid-configuration")
                #expect(answer.text("issuer") == "\(sandbox.authority)/\(issuer)")
            }
            let unknown = try await sandbox.get(
                "\(sandbox.authority)/nowhere.example/v2.0/.well-known/openid-configuration")
            #expect(unknown["error_codes"] as? [Int] == [90002])
            let instance = "\(sandbox.authority)/common/discovery/instance?api-version=1.1&authorization_endpoint="
            let foreign = try await sandbox.get(instance + "https://evil.example/common/oauth2/v2.0/authorize")
            #expect(foreign.status == 400)
            #expect(foreign.text("error") == "invalid_instance")
            #expect(try await sandbox.get(instance + "\(sandbox.authority)/common/oauth2/v2.0/authorize").status == 200)
        }
    }

    @Test func `planned faults happen as often as planned`() async throws {
        try await withSandbox { sandbox in
            let fault = #"{"path":"openid-conf","status":503,"headers":{"Retry-After":"7"},"times":2}"#
            try await sandbox.control("POST", "faults", fault)
            for _ in 0..<2 {
                let answer = try await sandbox.get(sandbox.authority + Self.discovery)
                #expect(answer.status == 503)
                #expect(answer.headers("Retry-After").first == "7")
            }
            #expect(try await sandbox.get(sandbox.authority + Self.discovery).status == 200)
            for kind in ["close", "truncate"] {
                try await sandbox.control("POST", "faults", #"{"path":"openid-conf","\#(kind)":true,"times":1}"#)
                await #expect(throws: (any Error).self) {
                    try await sandbox.get(sandbox.authority + Self.discovery)
                }
            }
        }
    }

    @Test func `issuer, nonce and state can be forged`() async throws {
        try await withSandbox { sandbox in
            for (member, path) in [("iss", "issuer"), ("nonce", "nonce")] {
                try await sandbox.control("POST", "faults", #"{"path":"/token","\#(path)":"forged","times":1}"#)
                let token = try await SignInFlow(sandbox: sandbox).tokens().text("id_token") ?? ""
                #expect(claims(of: token)[member] as? String == "forged")
            }
            try await sandbox.control("POST", "faults", #"{"path":"/authorize","state":"forged"}"#)
            #expect(try await SignInFlow(sandbox: sandbox).run().fields["state"] == "forged")
        }
    }

    @Test func `the log names every request and no secret`() async throws {
        try await withSandbox { sandbox in
            let flow = SignInFlow(sandbox: sandbox)
            let redirect = try await flow.run()
            _ = try await flow.redeem(redirect)
            let log = try await sandbox.control("GET", "log").body
            let file = try String(contentsOfFile: sandbox.directory + "/requests.log", encoding: .utf8)
            for text in [log, file] {
                #expect(text.contains(#""grant_type":"authorization_code""#))
                #expect(text.contains("alice@contoso.example"))
                #expect(!text.contains(redirect.fields["code"] ?? "?"))
                #expect(!text.contains(SignInFlow.verifier))
                #expect(!text.contains(#""passwd":"lanyard""#))
            }
            try await sandbox.control("DELETE", "log")
            #expect(try await sandbox.control("GET", "log").body == "[]")
            #expect(try await sandbox.get("\(sandbox.authority)/_sandbox/log").status == 403)
        }
    }

    @Test func `SIGTERM ends a sandbox cleanly`() async throws {
        let directory = FileManager.default.temporaryDirectory.path + "/sandbox-test-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let ended = try await Program.serve(in: directory) { authority in
            #expect(authority.hasPrefix("https://localhost:"))
        }
        #expect(ended == .exited(0))
        #expect(!FileManager.default.fileExists(atPath: directory + "/sandbox.json"))
    }

    @Test func `only the owner can read what a sandbox writes`() async throws {
        try await withSandbox { sandbox in
            let manager = FileManager.default
            let names = try manager.subpathsOfDirectory(atPath: sandbox.directory)
            for name in names {
                let path = sandbox.directory + "/" + name
                let mode = try manager.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? 0o777
                #expect(mode & 0o077 == 0, "\(name)")
            }
            #expect(names.contains("config.toml"))
        }
    }

    @Test(arguments: [
        (["--directory", "/proc/none/here"], "cannot use the directory /proc/none/here: it can't be made there"),
        (["--directory", "/etc/passwd"], "cannot use the directory /etc/passwd: Not a directory"),
        (["--users", "/nope.toml"], "cannot read the users file /nope.toml: No such file or directory"),
    ])
    func `what the sandbox can't use is said in a line, and what helps in another`(options: [String], told: String)
        async throws
    {
        let outcome = try await Program.sandbox(["serve"] + options)
        #expect(!outcome.succeeded && outcome.error.hasPrefix("lanyard: error: \(told)\nlanyard: hint: "))
        #expect(outcome.error.split(separator: "\n").count == 2, "\(outcome.error)")
    }

    @Test func `a folder that was there keeps its mode, unless others may write to it`() async throws {
        let directory = FileManager.default.temporaryDirectory.path + "/sandbox-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        defer { try? FileManager.default.removeItem(atPath: directory) }
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try await Program.serve(in: directory) { _ in } == .exited(0))
        #expect(try mode(directory) == 0o755)
        #expect(try await Program.serve(in: directory + "/new") { _ in } == .exited(0))
        #expect(try mode(directory + "/new") == 0o700)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: directory)
        let outcome = try await Program.sandbox(["serve", "--directory", directory])
        #expect(outcome.error.contains("cannot use the directory \(directory): other users can write to it"))
        #expect(try mode(directory) == 0o777)
    }

    @Test func `a users file with an unknown key is refused`() async throws {
        let directory = FileManager.default.temporaryDirectory.path + "/sandbox-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let file = directory + "/users.toml"
        try "tenant = []\nuser = []\nclient = []\nresource = []\nuzer = 1\n".write(
            toFile: file, atomically: true, encoding: .utf8)
        let outcome = try await Program.sandbox(["serve", "--directory", directory, "--users", file])
        #expect(!outcome.succeeded)
        #expect(outcome.error.contains("uzer"))
    }
}
