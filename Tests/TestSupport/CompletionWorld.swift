import Foundation

/// A home with a keyring, accounts, rules, and the shells' completions at the paths where the shells look for them.
package struct CompletionWorld: Sendable {
    /// The result of typing keys at a shell.
    package struct Typed: Decodable, Sendable {
        /// The command line after the last key.
        package let line: String
        /// The words of the line as the shell parses it; nil if the line is incomplete.
        package let words: [String]?
        /// The output while typing.
        package let screen: String
    }

    /// User names that a shell must quote; no two start with the same text.
    package static let names = [
        "ali ce@contoso.example", "mail:bob@contoso.example", "o'brien \"ob\"@fabrikam.example",
        "zoë müller@contoso.example", #"CONTOSO\dave$HOME!1`x`"#, "日本語@contoso.example",
        "x#1 & co;(y)*?{a,b}=~@contoso",
        // The next character combines with the last one of these.
        "q\u{0D4E};echo>pwned@contoso", "r'\u{0301};echo>pwned;'\u{0301}@contoso",
    ]
    /// The client ID of the only rule.
    package static let clientID = "11111111-2222-3333-4444-555555555555"
    /// The URL of the only rule.
    package static let url = "https://git.contoso.example:8443/team"

    /// The keyring with the accounts.
    package let keyring: KeyringFixture

    /// Runs the body in a new home; the accounts exist if the keyring is unlocked.
    package static func with(
        _ state: KeyringFixture.State, _ body: @Sendable (CompletionWorld) async throws -> Void
    ) async throws {
        try await KeyringFixture.with(state) { keyring in
            let world = CompletionWorld(keyring: keyring)
            try world.install()
            if state == .unlocked { try await world.saveAccounts() }
            try await body(world)
        }
    }

    /// Requests completions as bash's script does, until the answer is right.
    ///
    /// A completion gives up after 0.8 seconds, and a busy machine can exceed that at any point. An answer that is
    /// never right, or never in time, is so on an idle machine, too.
    package func complete(
        _ line: String, _ environment: [String: String] = [:],
        patience: Int = 20, until isRight: @Sendable (Ended) -> Bool
    ) async throws -> Ended {
        var last: Ended?
        for _ in 1...patience {
            let ended = try await keyring.run(
                Built.lanyard, ["complete", "bash", line, " \t\n\"'@><=;|&(:"], environment: environment)
            if isRight(ended) { return ended }
            last = ended
        }
        throw CompletionWorldError(description: "\(line): \(String(describing: last))")
    }

    /// Types keys at a shell, one set per line.
    package func type(_ keys: [String], at shell: String) async throws -> [Typed] {
        let request = try JSONSerialization.data(withJSONObject: ["setup": setup(shell), "cases": keys])
        let ended = try await run(
            Built.checkout + "/Tests/TestSupport/Scripts/type-at-shell", [shell, folder],
            input: String(decoding: request, as: UTF8.self),
            environment: keyring.environment.merging(environment) { $1 }, timeout: .seconds(900))
        guard ended.status == 0 else { throw CompletionWorldError(description: ended.errors) }
        return try JSONDecoder().decode([Typed].self, from: Data(ended.output.utf8))
    }

    /// The user's configuration file.
    package var configFile: String { folder + "/config/lanyard/config.toml" }

    private var folder: String { keyring.scratch.path }

    private var environment: [String: String] {
        ["PATH": "\(folder)/bin:\(Programs.folder)", "XDG_DATA_DIRS": "\(folder)/share:/usr/share"]
    }

    private func setup(_ shell: String) -> [String] {
        switch shell {
        case "bash": [". /usr/share/bash-completion/bash_completion"]
        case "zsh":
            [
                "fpath=(\(folder)/share/zsh/site-functions $fpath)",
                "autoload -Uz compinit; compinit -u -d \(folder)/dump",
            ]
        default: []
        }
    }

    private func install() throws {
        let files = FileManager.default
        func link(_ path: String, to destination: String) throws {
            let path = "\(folder)/\(path)"
            let parent = URL(fileURLWithPath: path).deletingLastPathComponent()
            try files.createDirectory(at: parent, withIntermediateDirectories: true)
            try files.createSymbolicLink(atPath: path, withDestinationPath: destination)
        }
        let completions = Built.checkout + "/completions"
        for name in ["lanyard", "git-credential-lanyard"] {
            try link("bin/\(name)", to: Built.lanyard)
            try link("share/bash-completion/completions/\(name)", to: completions + "/lanyard.bash")
            try link("share/fish/vendor_completions.d/\(name).fish", to: completions + "/lanyard.fish")
        }
        for name in ["_lanyard", "_git-credential-lanyard"] {
            try link("share/zsh/site-functions/\(name)", to: completions + "/" + name)
        }
        try files.createDirectory(atPath: folder + "/config/lanyard", withIntermediateDirectories: true)
        try """
        [[rule]]
        url = "\(Self.url)"
        authority = "https://login.example.org/contoso"
        client-id = "\(Self.clientID)"
        scopes = ["api://git.contoso.example/.default"]
        [[forward]]
        name = "devbox"
        urls = ["\(Self.url)"]
        """.write(toFile: configFile, atomically: true, encoding: .utf8)
    }

    /// Makes a program called `lanyard` that leaves a mark, at a path below the folder in which the shells run.
    package func trap(_ path: String) throws {
        let file = "\(folder)/\(path)"
        let parent = URL(fileURLWithPath: file).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        try "#!/bin/sh\ntouch '\(mark)'\n".write(toFile: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file)
    }

    /// What the programs of `trap` leave.
    package var mark: String { "\(folder)/mark" }

    /// The path of a lanyard that works, outside the current folder of the shells.
    package var absolutePath: String { "\(folder)/bin/lanyard" }

    private func saveAccounts() async throws {
        var accounts = Self.names.enumerated().map { ("user-\($0).contoso", $1, "Alice: \"Al\" Ånders") }
        accounts.append(("twin-1.contoso", "twin@contoso.example", "The One"))
        accounts.append(("twin-2.contoso", "Twin@contoso.example", "The Other"))
        let records = accounts.map { id, username, name in
            (
                id,
                [
                    "home_account_id": id, "environment": "login.microsoftonline.com", "realm": "contoso",
                    "username": username, "name": name, "authority_type": "MSSTS",
                    "home_realms": "contoso", "account_kind": "work or school",
                ]
            )
        }
        let cache = try JSONSerialization.data(
            withJSONObject: ["Account": Dictionary(uniqueKeysWithValues: records)])
        let ended = try await keyring.run(
            Built.folder + "/StoreProbe", ["--group", "dev.lanyard", "save"],
            input: String(decoding: cache, as: UTF8.self))
        guard ended.status == 0 else { throw CompletionWorldError(description: ended.output) }
    }
}

/// An error in the set-up of the completions.
package struct CompletionWorldError: Error, CustomStringConvertible {
    package let description: String
}
