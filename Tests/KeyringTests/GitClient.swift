import TestSupport

/// git with the probe as its only helper, and a stub for the user that answers `askpass-…`.
struct GitClient {
    private let keyring: KeyringFixture
    private let askpass: String

    /// Runs the body with git and an unlocked keyring.
    static func with(_ state: KeyringFixture.State = .unlocked, _ body: (GitClient) async throws -> Void) async throws {
        try await KeyringFixture.with(state) { keyring in
            let stub = """
                #!/bin/sh
                case "$1" in Username*) echo askpass-username ;; *) echo askpass-password ;; esac

                """
            let askpass = try keyring.scratch.write(stub, to: "askpass")
            try await keyring.run("chmod", ["700", askpass]).expectSuccess()
            try await body(GitClient(keyring: keyring, askpass: askpass))
        }
    }

    /// Tells git that a credential works, so that the helper stores it.
    func approve(_ lines: String...) async throws {
        let result = try await credential("approve", lines)
        try result.expectSilence()
    }

    /// Tells git that a credential doesn't work, so that the helper erases it.
    func reject(_ lines: String...) async throws {
        let result = try await credential("reject", lines)
        try result.expectSilence()
    }

    /// Asks git for a credential, and returns `user:password`.
    func fill(_ lines: String...) async throws -> String {
        let result = try await credential("fill", lines)
        try result.expectSuccess()
        let answer = result.output.split(separator: "\n")
        return ["username=", "password="].map { key in
            answer.first { $0.hasPrefix(key) }.map { String($0.dropFirst(key.count)) } ?? "-"
        }.joined(separator: ":")
    }

    private func credential(_ operation: String, _ lines: [String]) async throws -> Ended {
        let helper = "!'\(Built.storeProbe)' --group test"
        return try await keyring.run(
            "git",
            [
                "-c", "credential.helper=", "-c", "credential.helper=\(helper)", "-c", "credential.useHttpPath=true",
                "credential", operation,
            ],
            environment: ["GIT_ASKPASS": askpass], input: lines.map { $0 + "\n" }.joined())
    }
}

extension Ended {
    func expectSuccess() throws {
        guard status == 0 else { throw ProbeFailure(output: "\(status): \(output)\(errors)") }
    }

    func expectSilence() throws {
        try expectSuccess()
        guard output.isEmpty, errors.isEmpty else { throw ProbeFailure(output: "\(output)\(errors)") }
    }
}
