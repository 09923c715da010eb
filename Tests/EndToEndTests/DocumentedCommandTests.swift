import Foundation
import TestSupport
import Testing

/// The examples in documents, run exactly as printed.
///
/// They are for contoso.com, which stands for the reader's organisation. Here it is the sandbox's; rules and git
/// redirect the URLs of Azure DevOps and Graph to it, so everything that only runs lanyard, git or curl works. What
/// can't be run is in `leftOut`, with the reason.
@Suite struct DocumentedCommandTests {
    static let pages =
        (try? FileManager.default.contentsOfDirectory(atPath: Built.checkout + "/man"))?.filter { $0.hasSuffix(".1") }
        ?? []

    /// The folder of the pages for commands, made once.
    private static let made = Task {
        let folder = Built.folder + "/manual"
        let ended = try await TestSupport.run(
            "\(Built.checkout)/script/manual", [Built.lanyard, folder], environment: ["PATH": Programs.folder])
        #expect(ended.status == 0, "\(ended)")
        return folder + "/man1"
    }

    private static func text(of page: String) async throws -> String {
        try String(contentsOfFile: "\(await made.value)/\(page)", encoding: .utf8)
    }

    /// The examples that aren't run, by a part of their text, and why.
    private static let leftOut = [
        "sudo ": "changes the machine; SystemScopeTests does what it does",
        "dbus-daemon --session --fork": "starts a bus that stays; SharedBusTests does",
        "lanyard keyring": "needs a new passphrase, or two keyrings; SealedKeyringCommandTests has them",
        "lanyard rule secret": "needs a secret; ClientSecretTests does what it does",
        "lanyard identity secret": "needs a secret; IdentityTests does what it does",
        "lanyard plugin try": "signs in at an authority that only the reader has; PluginRunnerTests does what it does",
        "lanyard forward serve": "serves until it is interrupted; AgentTests runs it",
        "lanyard sandbox": "serves until it is stopped; GreetingTests does what it prints",
        "kubectl config": "needs kubectl; KubectlTests does what it does",
        "--as azure-cli": "needs a program with an SDK; AzureSDKTests has one",
        "--as managed-identity": "needs a program with an SDK; StandInTests has one",
        "aws configure": "needs the AWS CLI; CloudTests has one",
        "gcloud iam": "needs gcloud and an organisation at Google's",
        "--flow device-code": "waits for another device; TerminalTests has one",
    ]

    @Test(arguments: pages)
    func `a manual page's examples work`(page: String) async throws {
        let examples = DocumentedCommands.all(inManualPage: try await Self.text(of: page), named: page)
        #expect(!examples.isEmpty)
        let description = try await Description()
        for line in examples.flatMap({ $0.script.replacing("\\\n", with: "").split(separator: "\n") })
        where line.hasPrefix("lanyard ") && !line.hasPrefix("lanyard sandbox") {
            let isKnown = description.accepts(String(line))
            #expect(isKnown, "\(page): \(line)")
        }
        try await Self.run(examples)
    }

    @Test func `each command's help has examples, as wide as a terminal, and names a manual page that has them`()
        async throws
    {
        for (path, command) in try await Description().command.all() {
            let ended = try await TestSupport.run(
                Built.lanyard, ["help"] + path, environment: ["PATH": Programs.folder])
            let page = try #require(command.manual)
            #expect(ended.lines.last == "  See 'man \(page)' for the manual.", "\(ended)")
            let examples = command.examples ?? []
            #expect(!examples.isEmpty, "\(path)")
            let shown = try await Self.text(of: page + ".1").replacing("\\e", with: "\\")
            for example in examples {
                let isThere = shown.contains(example.command)
                #expect(isThere, "\(page): \(example.command)")
                for line in example.command.split(separator: "\n") { #expect(line.count <= 76, "\(line)") }
            }
        }
    }

    @Test func `the sandbox's manual page has its options`() async throws {
        let dump = try await TestSupport.run(Built.sandbox, ["--experimental-dump-help"], environment: [:])
        let page = try await Self.text(of: "lanyard-sandbox.1")
        let sandbox = try JSONDecoder().decode(Description.self, from: Data(dump.output.utf8)).command
        for option in sandbox.all().flatMap(\.command.options) where option.hasPrefix("--") && option != "--help" {
            let isThere = page.contains("Fl \(option.dropFirst())")
            #expect(isThere, "\(option)")
        }
    }

    @Test func `the manual has the variables that lanyard reads, and no others`() async throws {
        let ended = try await TestSupport.run(
            "/bin/bash",
            [
                "-c",
                """
                comm -3 <(grep -rhoE --include='*.swift' '"LANYARD_[A-Z_]+"' Sources plugins | tr -d '"' | sort -u) \
                    <(grep -hoE 'LANYARD_[A-Z_]+' man/* | sort -u)
                """,
            ], environment: ["PATH": Programs.folder], folder: Built.checkout)
        #expect(ended.status == 0 && ended.output.isEmpty, "\(ended)")
    }

    @Test func `everything left out is documented`() async throws {
        var documented: [String] = []
        for page in Self.pages { documented.append(try await Self.text(of: page)) }
        for part in Self.leftOut.keys { #expect(documented.contains { $0.contains(part) }, "\(part)") }
    }

    /// Runs each of the examples once, in a fresh state.
    static func run(_ examples: [DocumentedCommands]) async throws {
        var seen: Set<String> = []
        let wanted = examples.filter { example in
            !leftOut.keys.contains { example.script.contains($0) } && seen.insert(example.script).inserted
        }
        guard !wanted.isEmpty else { return }
        try await DocumentedWorld.with { world in
            // What undoes all comes last, since others rely on what came before.
            let isLast = { (example: DocumentedCommands) in example.script.contains("unconfigure --all") }
            for example in wanted.filter({ !isLast($0) }) + wanted.filter(isLast) { try await world.run(example) }
        }
    }
}

/// A world in which the documents' names are real: the organisation is the sandbox's, and its users are signed in.
private struct DocumentedWorld: Sendable {
    private let world: World
    private let environment: [String: String]
    private let configuration: String
    /// The files in the home that `configure git` writes, by path, before and after it.
    private var git: (before: [String: String], after: [String: String])

    static func with(_ body: @Sendable (DocumentedWorld) async throws -> Void) async throws {
        // The pages are for a desktop.
        try await World.with(.secretService, people: { $0.replacing("contoso.example", with: "contoso.com") + admin }) {
            world in
            var documented = try DocumentedWorld(world)
            try await documented.prepareGit()
            try await body(documented)
        }
    }

    private static let admin = """

        [[user]]
        username = "admin@contoso.com"
        name = "Admin"
        password = "\(Sandbox.password)"
        tenant = "contoso.com"
        id = "ad314000-0000-4000-8000-00000000c0a7"

        """

    private init(_ world: World) throws {
        self.world = world
        let variables = [
            "CREDENTIALS_DIRECTORY": world.folder + "/credentials", "TERM": "dumb",
            "GNUPGHOME": world.folder + "/gnupg",
        ]
        environment = world.environment.merging(world.browser(as: "alice@contoso.com")) { $1 }.merging(variables) { $1 }
        // None of the users is from the sandbox's other organisations.
        try world.configure(onlyRuleFor: "contoso")
        configuration = try String(contentsOfFile: world.configFile, encoding: .utf8)
        git = ([:], [:])
        try write("\(KeyringFixture.password)", to: "credentials/keyring")
        // The sandbox's certificate is for localhost.
        try write(
            "connect-to = \"graph.microsoft.com:443:\(world.sandbox.resourceHost)\"\ninsecure\n", to: "home/.curlrc")
        try write(
            "batch\npinentry-mode loopback\npassphrase-file \(world.folder)/credentials/keyring\n", to: "gnupg/gpg.conf"
        )
        // Substitutes for programs that need not be installed; each does what the example relies on.
        try write(
            "#!/bin/sh\n[ \"$1\" = -P ] && exec '\(Built.sandbox)' sign-in --ca \(world.sandbox.caFile) --as \"$2@contoso.com\" \"$3\"\n",
            to: "bin/firefox", isProgram: true)
        try write("#!/bin/sh\nexec test -n \"$AZURE_DEVOPS_EXT_PAT\"\n", to: "bin/az", isProgram: true)
        for (language, name) in [("toml", "plugin.toml"), ("sh", "acme.sh")] {
            let file = try Self.pluginExample(in: language).replacing("\"acme\"", with: "\"my-plugin\"")
            try write(
                file.replacing("name=acme", with: "name=my-plugin"), to: "my-plugin/\(name)",
                isProgram: language == "sh")
        }
    }

    /// Returns a file of the plugin that the protocol's document uses as an example.
    private static func pluginExample(in language: String) throws -> String {
        let page = try String(contentsOfFile: Built.checkout + "/docs/plugin-machines.md", encoding: .utf8)
        let start = try #require(page.firstRange(of: "```\(language)\n"))
        return String(
            page[start.upperBound...].prefix(
                upTo: try #require(page[start.upperBound...].firstRange(of: "```")).lowerBound))
    }

    private func write(_ text: String, to path: String, isProgram: Bool = false) throws {
        let file = URL(filePath: "\(world.folder)/\(path)")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try text.write(to: file, atomically: true, encoding: .utf8)
        if isProgram { try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: file.path) }
    }

    /// Runs an example as a reader would who has followed the documentation so far.
    func run(_ example: DocumentedCommands) async throws {
        try await prepare(for: example.script)
        let shell = ["/bin/sh", "-ec", "cd here\n\(example.script)"]
        // Accept every question, as a reader would.
        let answers = (0..<example.script.questions).flatMap { _ in ["[Y/n]", ""] }
        let terminal = ["\(Built.checkout)/Tests/TestSupport/Scripts/at-terminal"] + answers + ["--"]
        let command = answers.isEmpty ? shell : terminal + shell
        let variables = try identity(for: example.script)
        let ended = try await world.runInside(
            command[0], Array(command.dropFirst()), environment: environment.merging(variables) { $1 })
        #expect(ended.status == 0, "\(example)\n\(ended)")
        let words = Set((ended.output + ended.errors).split(separator: "\n").map(\.firstWord))
        for line in example.output {
            #expect(words.contains(line.firstWord), "\(example.source): no line is like: \(line)\n\(ended)")
        }
    }

    private func prepare(for script: String) async throws {
        let here = world.folder + "/work/here"
        try? FileManager.default.removeItem(atPath: here)
        try write("url=https://git.contoso.com\nusername=alice\npassword=secret\n", to: "work/here/credential.txt")
        try FileManager.default.createSymbolicLink(
            atPath: here + "/my-plugin", withDestinationPath: world.folder + "/my-plugin")
        try configure(with: Self.rules)
        try await signIn()
        // The reader's git uses lanyard, unless configuring that is the example.
        let git = script.contains("lanyard configure git") ? git.before : git.after
        for (path, text) in git { try write(text, to: "home/\(path)") }
        for preparation in Self.preparations where script.contains(preparation.part) {
            let ended = try await world.runInside(
                "/bin/sh", ["-ec", preparation.script], environment: environment)
            #expect(ended.status == 0, "\(ended)")
        }
        try configure(with: Self.rules.filter { !script.adds(ruleFor: $0.url) })
        if script.contains("forward remove") {
            try world.configure(forward: "devbox", urls: ["https://dev.azure.com/contoso"])
        }
    }

    private func configure(with rules: [(url: String, scope: String)]) throws {
        try configuration.write(toFile: world.configFile, atomically: true, encoding: .utf8)
        for (url, scope) in rules { try world.configure(rule: url, at: "contoso.com", scope: scope) }
    }

    /// The reader has added the identity in an example, and works where variables describe one.
    private func identity(for script: String) throws -> [String: String] {
        guard script.contains("identity"), !script.contains("identity add") else { return [:] }
        let application = world.sandbox.application
        var text = try String(contentsOfFile: world.configFile, encoding: .utf8)
        text += """

            [[identity]]
            name = "release"
            authority = "\(world.sandbox.authority)/contoso.com"
            client-id = "\(application.clientID)"
            certificate = "\(application.certificate)"

            """
        try text.write(toFile: world.configFile, atomically: true, encoding: .utf8)
        return [
            "AZURE_TENANT_ID": "contoso.com", "AZURE_CLIENT_ID": application.clientID,
            "AZURE_CLIENT_CERTIFICATE_PATH": application.certificate, "AZURE_AUTHORITY_HOST": world.sandbox.authority,
        ]
    }

    /// Signs in the accounts that the previous example signed out; alice is in use, and admin was before her.
    private func signIn() async throws {
        let accounts = try await world.lanyard(["status", "--accounts"]).output
        guard !accounts.contains("* alice@") || !accounts.contains("admin@") else { return }
        for name in ["admin@contoso.com", "alice@contoso.com"] {
            let ended = try await world.lanyard(
                ["login", "https://dev.azure.com/contoso", "--account", name], world.browser(as: name))
            #expect(ended.status == 0, "\(ended)")
        }
    }

    /// Records git's settings before and after lanyard has the documented rules.
    private mutating func prepareGit() async throws {
        try configure(with: Self.rules)
        let here = "url.\(world.sandbox.resource)/contoso/hello.git.insteadOf"
        try await world.git(["config", "--global", here, "https://dev.azure.com/contoso/project/_git/repo"])
        git.before = try gitFiles()
        let ended = try await world.lanyard(["configure", "git", "--yes"])
        #expect(ended.status == 0, "\(ended)")
        git.after = try gitFiles()
    }

    private func gitFiles() throws -> [String: String] {
        try Dictionary(
            uniqueKeysWithValues: [".gitconfig", World.gitRecordPath].map { path in
                (path, try String(contentsOfFile: "\(world.folder)/home/\(path)", encoding: .utf8))
            })
    }

    /// The examples' prerequisites, by a part of their text.
    private static let preparations = [
        (part: "gpg --decrypt", script: "lanyard export | gpg --yes --symmetric --output here/lanyard.gpg"),
        (part: "gpg --symmetric", script: "rm -f here/lanyard.gpg"),
        (
            part: "lanyard configure kubectl",
            script: "mkdir -p ~/.kube && printf '\(kubeconfig)' >~/.kube/config"
        ),
        (
            part: "configure container",
            script: "mkdir here/.devcontainer && echo '{}' >here/.devcontainer/devcontainer.json"
        ),
        (part: "unconfigure container", script: "cd here && lanyard configure container devbox --yes"),
        (part: "lanyard doctor", script: "git config --global --unset-all credential.helper"),
        (
            part: "lanyard configure git https://dev.azure.com/contoso",
            script: "git config --global --unset-all credential.helper || true"
        ),
        // Each tool is asked about.
        (part: "unconfigure --all", script: "lanyard unconfigure --all --yes; lanyard configure docker --yes"),
        (
            part: "--from azure-cli",
            script: "mkdir -p ~/.azure && rm -f ~/.azure/* && lanyard export --output ~/.azure/msal_token_cache.json"
        ),
    ]

    private static let kubeconfig = #"users:\n- name: me\n  user:\n    exec:\n      command: kubelogin\n"#

    private static let rules = [
        (url: "https://dev.azure.com/contoso", scope: "api://sandbox-git/.default"),
        (url: "https://git.contoso.com/guarded", scope: "api://sandbox-git/.default"),
        (url: "https://graph.microsoft.com", scope: "https://graph.microsoft.com/User.Read"),
    ]
}

extension StringProtocol {
    /// Whether a script itself adds the rule for a URL.
    fileprivate func adds(ruleFor url: String) -> Bool {
        contains("--authority") && (contains("configure git \(url)") || contains("rule add \(url)"))
    }

    /// The number of its commands that ask before changing something.
    fileprivate var questions: Int {
        split(separator: "\n").count { line in
            line.contains("configure ") && !line.contains("--yes") && !line.contains("--dry-run")
                && !line.contains("--list")
        }
    }

    fileprivate var firstWord: Substring { Substring(self).split(separator: " ").first ?? "" }
}
