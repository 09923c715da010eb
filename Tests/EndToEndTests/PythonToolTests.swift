import Foundation
import TestSupport
import Testing

/// pip, uv and twine with a pypiserver that requires a password.
@Suite(.enabled(if: Clients.folder != nil, "there are none: script/get tools says why"))
struct PythonToolTests {
    @Test
    func `a password that keyring sets opens the index until it is deleted, and a token opens it after a sign-in`()
        async throws
    {
        try await World.with { world in
            let password = "s3cret: \"x\""
            try await PackageIndex.with(password: password, in: world) { index in
                let set = try await keyring(world, ["set", index.root, "alice"], input: password + "\n")
                #expect(set.status == 0 && set.output.isEmpty && set.errors.isEmpty, "\(set)")
                for ended in try await all(world, index, user: "alice") {
                    #expect(ended.status == 0, "\(ended)")
                }
                let del = try await keyring(world, ["del", index.root, "alice"])
                #expect(del.status == 0, "\(del)")
                for ended in try await all(world, index, user: "alice") {
                    #expect(ended.status != 0, "\(ended)")
                }
                try await expectToken(world, index)
            }
        }
    }

    /// Expects that a token opens the index, and that no user is asked without one.
    private func expectToken(_ world: World, _ index: PackageIndex) async throws {
        try world.configure(rule: index.root, at: "contoso.example")
        let creds = ["--mode=creds", "--output=json", "get", index.url]
        let early = try await keyring(world, creds, world.browser(as: "alice@contoso.example"))
        #expect(early.status == 1 && early.output.isEmpty, "\(early)")
        #expect(early.errors.contains("lanyard login \(index.url)"), "\(early)")
        #expect(try await pip(world, index).status != 0)

        let login = try await world.lanyard(["login", index.url], world.browser(as: "alice@contoso.example"))
        try #require(login.status == 0, "\(login)")
        let token = try #require(try await world.lanyard(["token", index.url]).lines.first)
        try index.accept(token)
        let answer = try await keyring(world, creds)
        #expect(answer.output == #"{"password":"\#(token)","username":"alice@contoso.example"}"# + "\n")
        for ended in try await all(world, index, user: "anybody") {
            #expect(ended.status == 0, "\(ended)")
            #expect(!ended.output.contains(token) && !ended.errors.contains(token))
        }
    }

    // MARK: The tools

    private func keyring(
        _ world: World, _ arguments: [String], _ extra: [String: String] = [:], input: String = ""
    ) async throws -> Ended {
        try await world.runInside(
            try program(world), arguments, input: input, environment: world.environment.merging(extra) { $1 })
    }

    /// Returns the link, in a folder of its own as in an installation.
    private func program(_ world: World) throws -> String {
        let folder = world.folder + "/keyring"
        let link = folder + "/keyring"
        if !FileManager.default.fileExists(atPath: link) {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: Built.lanyard)
        }
        return link
    }

    private func run(_ world: World, _ name: String, _ arguments: [String], _ extra: [String: String] = [:])
        async throws -> Ended
    {
        let own = [
            "PATH": "\(world.folder)/keyring:\(world.environment["PATH"] ?? "")", "PIP_CONFIG_FILE": "/dev/null",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1", "UV_NO_CACHE": "1", "UV_KEYRING_PROVIDER": "subprocess",
        ]
        return try await world.runInside(
            Clients.program(name), arguments,
            environment: world.environment.merging(own) { $1 }.merging(extra) { $1 })
    }

    private func all(_ world: World, _ index: PackageIndex, user: String) async throws -> [Ended] {
        [
            try await pip(world, index), try await uv(world, index), try await uv(world, index, user: user),
            try await twine(world, index),
        ]
    }

    private func pip(_ world: World, _ index: PackageIndex) async throws -> Ended {
        try await run(
            world, "pip",
            [
                "download", "--no-input", "--no-deps", "--no-cache-dir", "--keyring-provider", "subprocess", "--dest",
                UUID().uuidString, "--index-url", index.url, "hello",
            ])
    }

    /// Runs uv; with a user it requests their password, and without one both, if it knows that the index requires them.
    private func uv(_ world: World, _ index: PackageIndex, user: String? = nil) async throws -> Ended {
        let url = user.map { index.url.replacing("://", with: "://\($0)@") } ?? index.url
        let file = world.folder + "/uv.toml"
        try "[[index]]\nurl = \"\(url)\"\ndefault = true\nauthenticate = \"always\"\n"
            .write(toFile: file, atomically: true, encoding: .utf8)
        return try await run(
            world, "uv",
            [
                "--config-file", file, "pip", "install", "--python", Clients.program("python3"), "--target",
                UUID().uuidString, "hello",
            ])
    }

    /// Runs twine with the backend for the keyring library, which runs the lanyard on `PATH`.
    private func twine(_ world: World, _ index: PackageIndex) async throws -> Ended {
        try await run(
            world, "twine",
            [
                "upload", "--non-interactive", "--repository-url", index.root,
                "\(index.folder)/packages/hello-1.0-py3-none-any.whl",
            ],
            ["PYTHONPATH": try await world.keyringBackend()])
    }

}
