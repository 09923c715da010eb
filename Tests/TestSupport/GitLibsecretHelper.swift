import Foundation

/// git's own helper for the Secret Service, built from the source in Debian's git package.
package enum GitLibsecretHelper: String, Sendable, CaseIterable {
    /// The version in Debian 12: its items have GNOME's network schema, and are looked up by that name.
    case networkSchema
    /// The same source with the schema of newer git releases: `org.git.Password`, not matched by name.
    case gitSchema

    private static let source = "/usr/share/doc/git/contrib/credential/libsecret/git-credential-libsecret.c"

    private static let schema = """
        #include <libsecret/secret.h>
        #undef SECRET_SCHEMA_COMPAT_NETWORK
        #define SECRET_SCHEMA_COMPAT_NETWORK (&test_git_schema)
        static const SecretSchema test_git_schema = {
            "org.git.Password", SECRET_SCHEMA_DONT_MATCH_NAME,
            {{"user", 0}, {"object", 0}, {"protocol", 0}, {"port", 1}, {"server", 0}},
        };
        """

    /// Builds the helper in a scratch directory and returns its path.
    package func build(in scratch: ScratchDirectory) async throws -> String {
        let helper = scratch.path + "/git-credential-\(rawValue)"
        try await GitLibsecretHelpers.shared.program(self).write(to: URL(filePath: helper))
        chmod(helper, 0o755)
        return helper
    }

    /// Compiles the helper and returns the program.
    fileprivate func compile() async throws -> Data {
        try await ScratchDirectory.with { scratch in
            let header = try scratch.write(self == .gitSchema ? Self.schema : "", to: rawValue + ".h")
            let script = #"exec gcc -include "$1" -o "$2" "$3" $(pkg-config --cflags --libs libsecret-1)"#
            let helper = scratch.path + "/helper"
            let result = try await run(
                "/bin/sh", ["-c", script, "sh", header, helper, Self.source], environment: scratch.environment)
            guard result.status == 0 else { throw KeyringFixtureError(result.errors) }
            return try Data(contentsOf: URL(filePath: helper))
        }
    }
}

/// The helpers' programs, each compiled once.
private actor GitLibsecretHelpers {
    static let shared = GitLibsecretHelpers()
    private var made: [GitLibsecretHelper: Task<Data, any Error>] = [:]

    func program(_ helper: GitLibsecretHelper) async throws -> Data {
        let task = made[helper] ?? Task { try await helper.compile() }
        made[helper] = task
        return try await task.value
    }
}
