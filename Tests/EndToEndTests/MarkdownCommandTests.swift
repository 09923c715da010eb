import Foundation
import TestSupport
import Testing

/// The commands in README and docs, run at a terminal exactly as printed, by a user who presses Enter at each question.
///
/// The sandbox stands for Entra ID, Azure DevOps, Microsoft Graph and an organisation's GitLab. Only the names of the
/// authority, client and users in the text are replaced.
@Suite struct MarkdownCommandTests {
    static let pages: [String] = {
        let docs = (try? FileManager.default.contentsOfDirectory(atPath: Built.checkout + "/docs")) ?? []
        return ["README.md", "CONTRIBUTING.md", "SECURITY.md"]
            + docs.filter { $0.hasSuffix(".md") }.map { "docs/\($0)" }.sorted()
    }()

    /// Pages whose commands are tested elsewhere: pipelines have no terminal.
    static let others = ["docs/ci.md": "RecipeTests"]

    /// The first words of commands that can't run here, and why.
    static let leftOut = [
        "script/": "builds, measures or tests for minutes",
        "sudo ": "changes the machine",
        "ln -sf lanyard .build/": "changes the checkout, which all tests share",
        "az ": "needs the Azure CLI and a tenant",
        "tar xf dist/": "needs what script/package makes",
        "lanyard sandbox": "serves until Ctrl-C; GreetingTests runs it and what it prints",
        "lanyard login https://dev.azure.com/contoso --flow device-code": "a user enters the code; CloneTests does",
        "lanyard login https://dev.azure.com/contoso --no-browser": "the browser is elsewhere; TerminalTests has one",
        "lanyard exec https://dev.azure.com/contoso --env AZURE_DEVOPS_EXT_PAT": "needs the Azure CLI and Azure DevOps",
        "lanyard exec https://dev.azure.com/contoso --env SYSTEM_ACCESSTOKEN": "needs a container engine",
        "lanyard exec https://dev.azure.com/contoso -- \\\n    docker": "needs a container engine",
        "lanyard exec --as azure-cli": "needs a program with an SDK; AzureSDKTests has one",
        "lanyard exec --as managed-identity": "needs a program with an SDK; StandInTests has one",
        "lanyard login --resource https://management.core.windows.net/": "the sandbox has no such API",
        "entra 'https://dev.azure.com/": "the sandbox has no such API",
        "entra 'https://management.azure.com/": "the sandbox has no such API",
        "entra https://graph.microsoft.com/v1.0/me/messages": "the sandbox has no such API",
        "lanyard login https://contoso.azurecr.io": "needs a container registry; ExchangeTests has one",
        "lanyard token https://contoso.azurecr.io": "needs a container registry",
        "lanyard configure docker https://123456789012.dkr.": "a user types a start URL; AWSProfileTests does",
        "lanyard export | gpg": "gpg asks for a passphrase in a window of its own",
        "lanyard login https://pkgs.dev.azure.com/contoso": "needs Azure Artifacts; PythonToolTests has another index",
        "read -rs PASSWORD": "a user types a password",
        #"printf '%s\n' "$PASSWORD" | keyring"#: "needs the folder of an installation; PythonToolTests has it",
        "keyring ": "needs the folder of an installation; PythonToolTests has it",
        "lanyard configure kubectl": "needs a kubeconfig with users to convert; ConfigureToolTests has one",
        "lanyard configure aws --profile": "needs a profile of the AWS CLI's; AWSProfileTests has some",
        "kubectl config": "needs kubectl; KubectlTests does what it does",
        "ln -sf \"$(command -v terraform-credentials-lanyard)\"": "needs the folder of an installation",
        "lanyard exec https://pkgs.dev.azure.com/contoso -- ": "needs npm, Maven and Azure Artifacts",
        "lanyard exec https://vault.contoso.com": "needs a Vault; IDTokenTests has one, for hvac",
        "lanyard exec https://repo.contoso.com": "needs Composer and a repository of packages",
        "pipx ": "changes what the user has installed; PythonToolTests installs the package",
        "gpg --decrypt": "needs what the command before it makes",
        "systemctl --user": "needs a user's systemd",
        "pkill -u": "ends every agent of the user who runs the tests",
        "lanyard keyring create": "asks for a new passphrase; SealedKeyringCommandTests types one",
        "lanyard forward serve": "serves until it is interrupted; AgentTests runs it",
        "ssh -R": "needs an sshd; ForwardedSocketTests has one",
        "docker run": "needs a container engine",
        "lanyard plugin try FOLDER": "the folder and the authority are the reader's; NewPluginTests has both",
        "lanyard plugin try ./quill": "the issuer's port differs from run to run; NewPluginTests has one",
        "lanyard rule add https://git.example.com": "a user confirms the authority's host; RuleCommandTests does",
        "lanyard plugin check FOLDER": "the folder is the reader's; ConformanceKitTests has one",
    ]

    @Test(arguments: pages.filter { others[$0] == nil })
    func `each command runs as it is printed`(page: String) async throws {
        let blocks = try await Self.commands(of: page).blocks
        let runnable = blocks.map { block in
            (block.line, block.commands.filter { command in !Self.leftOut.keys.contains { command.hasPrefix($0) } })
        }.filter { !$0.1.isEmpty }
        guard !runnable.isEmpty else { return }
        // The pages are for a desktop.
        try await World.with(.secretService) { world in
            let stage = try await Stage(world, isNew: page == "README.md")
            for (line, commands) in runnable {
                let script = stage.named(commands.joined(separator: "\n"))
                let ended = try await stage.atTerminal(script)
                #expect(ended.status == 0, "\(page):\(line)\n\(script)\n\(ended)")
            }
        }
    }

    @Test func `nothing is left out that isn't there`() async throws {
        var commands: [String] = []
        for page in Self.pages { commands += try await Self.commands(of: page).blocks.flatMap(\.commands) }
        for prefix in Self.leftOut.keys {
            #expect(
                commands.contains { $0.hasPrefix(prefix) },
                "no page has a command that begins with \(prefix): remove it from `leftOut`")
        }
        // Without any commands, none could fail.
        #expect(commands.count > 60)
    }

    @Test(arguments: pages)
    func `commands within the text exist, with these options`(page: String) async throws {
        let text = try Self.text(of: page)
        let description = try await Description()
        for span in MarkdownCommands.spans(of: text) where span.hasPrefix("lanyard ") {
            #expect(description.accepts(span), "\(page): \(span)")
        }
    }

    @Test(arguments: pages)
    func `links lead to pages and headings that there are`(page: String) throws {
        let folder = URL(filePath: "\(Built.checkout)/\(page)").deletingLastPathComponent()
        for link in try Self.text(of: page).matches(of: #/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/#) {
            let target = link.1.isEmpty ? page : folder.appending(path: String(link.1)).standardized.path
            let file = target.hasPrefix("/") ? target : "\(Built.checkout)/\(target)"
            #expect(FileManager.default.fileExists(atPath: file), "\(page): \(link.0)")
            guard let anchor = link.2 else { continue }
            let headings = try String(contentsOfFile: file, encoding: .utf8).matches(of: #/(?m)^#+ (.*)$/#).map {
                $0.1.lowercased().filter { $0.isLetter || $0.isNumber || " -_".contains($0) }.replacing(" ", with: "-")
            }
            #expect(headings.contains(String(anchor)), "\(page): \(link.0)")
        }
    }

    private static func text(of page: String) throws -> String {
        try String(contentsOfFile: "\(Built.checkout)/\(page)", encoding: .utf8)
    }

    private static func commands(of page: String) async throws -> MarkdownCommands {
        try await MarkdownCommands(text(of: page))
    }
}

/// A world in which the pages' names stand for the sandbox's: rules, git and curl redirect the URLs of Azure DevOps and
/// Graph to it.
private struct Stage {
    private let world: World
    private let environment: [String: String]
    private let names: [(of: String, to: String)]

    /// Creates a stage; `isNew` says whether the page itself adds rules and configures git, which readers of other
    /// pages have already done.
    init(_ world: World, isNew: Bool) async throws {
        self.world = world
        names = [
            ("https://login.microsoftonline.com/contoso.com", world.sandbox.authority + "/contoso.example"),
            ("https://login.microsoftonline.com", world.sandbox.authority),
            ("11111111-2222-3333-4444-555555555555", world.sandbox.clientID),
            ("@contoso.com", "@contoso.example"),
            ("https://gitea.contoso.com", world.sandbox.gitea.url),
            ("https://gitlab.contoso.com", world.sandbox.issuer.url), ("7d0c6f2a", world.sandbox.issuer.clientID),
        ]
        let variables = ["CLIENT_ID": world.sandbox.clientID]
        environment = world.environment.merging(world.browser(as: "alice@contoso.example")) { $1 }
            .merging(variables) { $1 }
        // None of the users is from the sandbox's other organisations.
        try world.configure(onlyRuleFor: "contoso")
        try world.configure(rule: "https://dev.azure.com/contoso", at: "contoso.example")
        if !isNew {
            try world.configure(
                rule: "https://graph.microsoft.com", at: "contoso.example",
                scope: "https://graph.microsoft.com/User.Read")
        }
        try await world.signIn("bob@contoso.example", "alice@contoso.example", path: "contoso/hello.git")
        try write(
            """
            [http]
            sslCAInfo = "\(world.sandbox.caFile)"
            [credential "\(world.sandbox.resource)"]
            helper = lanyard
            useHttpPath = true
            [url "\(world.sandbox.resource)/contoso/hello.git"]
            insteadOf = https://dev.azure.com/contoso/project/_git/repo
            \(isNew ? "" : "[credential \"https://dev.azure.com\"]\nuseHttpPath = true")

            """, to: ".gitconfig")
        // The sandbox's certificate is for localhost.
        try write("connect-to = \"graph.microsoft.com:443:\(world.sandbox.resourceHost)\"\ninsecure\n", to: ".curlrc")
        try write("{}", to: ".azure/msal_token_cache.json")
        try FileManager.default.createSymbolicLink(
            atPath: world.folder + "/home/.config", withDestinationPath: world.folder + "/config")
    }

    private func write(_ text: String, to path: String) throws {
        let file = URL(filePath: "\(world.folder)/home/\(path)")
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file, atomically: true, encoding: .utf8)
    }

    /// Returns the commands with the sandbox's names.
    func named(_ commands: String) -> String {
        names.reduce(commands) { $0.replacing($1.of, with: $1.to) }
    }

    /// Runs a script at a terminal of 80 columns, and accepts all suggestions.
    func atTerminal(_ script: String) async throws -> Ended {
        try await run(
            Built.checkout + "/Tests/TestSupport/Scripts/at-terminal",
            ["--enter", "--", "bash", "-c", "set -e\n\(script)"],
            environment: environment, folder: world.folder + "/work")
    }
}
