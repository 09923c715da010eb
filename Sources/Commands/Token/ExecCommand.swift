import Addresses
import ArgumentParser
import CLinux
import Claims
import CommandKit
import CredentialEngine
import Files
import Glibc
import Model
import Rules
import Secrets
import Terminal
import TokenAcquisition
import Tools

struct ExecCommand: TokenNamingCommand {
    static let configuration = CommandConfiguration(
        commandName: "exec", abstract: "Run a command with an access token in its environment.",
        usage: """
            lanyard exec [<options>] [<url>] -- <command> [<argument> ...]
            lanyard exec --as <program> [<options>] -- <command> [<argument> ...]
            """,
        discussion: """
            The command replaces lanyard, so signals and the exit status are its own. Without a token it doesn't run. \
            \(ExecCommand.expiryVariable) holds the time when the token expires, in seconds since 1970; it is empty if \
            that isn't known. For AWS keys the variables are AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, \
            AWS_SESSION_TOKEN and AWS_CREDENTIAL_EXPIRATION, and AWS_PROFILE and others that come first are unset. With --as the command gets no token: it finds lanyard where it looks for another program, \
            or for a managed identity, and asks for tokens itself.
            """)

    static let examples: KeyValuePairs = [
        "List an organisation's repositories with the Azure CLI": """
        lanyard exec \(Example.url) --env AZURE_DEVOPS_EXT_PAT -- \\
          az repos list --organization \(Example.url)
        """,
        "Have programs with an SDK of Azure sign in with lanyard": "lanyard exec --as azure-cli -- terraform plan",
        "Give a program that needs a managed identity your own tokens for a key vault": """
        lanyard exec --as managed-identity --resource https://vault.azure.net -- \\
          python3 app.py
        """,
    ]

    /// The variable for the token, unless `--env` names another.
    static let tokenVariable = "LANYARD_ACCESS_TOKEN"
    /// The variable for the token's expiry.
    static let expiryVariable = "LANYARD_TOKEN_EXPIRES_ON"

    @Argument(help: .tokenURL) var url: String?

    @OptionGroup(title: "Token") var named: NamedTokenOptions
    @OptionGroup(title: "Token") var whose: IdentityOption
    @OptionGroup(title: "Sign-in") var interaction: InteractionOptions
    @OptionGroup(title: "Sign-in page") var signIn: SignInOptions
    @OptionGroup(title: "Sign-in page") var page: SignInPageOptions

    var identity: String? { whose.identity }
    /// Keys of AWS have variables of their own.
    var takesFields: Bool { true }

    @Option(
        help: ArgumentHelp(
            "The variable for the token instead of \(ExecCommand.tokenVariable); may be repeated.",
            valueName: "name"))
    var env: [String] = []

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp("What lanyard stands in for; a managed identity takes --resource.", valueName: "program"))
    var standIn: StandIn?

    @Argument(
        parsing: .postTerminator, help: ArgumentHelp("The command and its arguments, after --.", valueName: "command"))
    var command: [String] = []

    mutating func validate() throws {
        guard !command.isEmpty else {
            throw ValidationError("name the command after --, as in: lanyard exec -- make release")
        }
        try validateStandIn()
        for name in env {
            guard name.isVariableName else {
                throw ValidationError("--env takes the name of a variable, which \(name) can't be")
            }
            guard name != Self.expiryVariable else {
                throw ValidationError("\(name) holds the expiry time; choose another name")
            }
        }
    }

    private func validateStandIn() throws {
        guard let standIn else { return }
        guard standIn == .managedIdentity else {
            guard url == nil, !named.isTokenNamed, env.isEmpty else {
                throw ValidationError("with --as, the command itself asks for tokens; leave out the other options")
            }
            return
        }
        guard url == nil, named.scope.isEmpty, named.claims == nil, named.claim.isEmpty, env.isEmpty else {
            throw ValidationError("a managed identity's tokens are named by --resource alone; leave out the rest")
        }
        guard !named.resource.isEmpty else {
            throw ValidationError(
                "name what tokens may be for, as in: "
                    + "lanyard exec --as managed-identity --resource https://vault.azure.net -- COMMAND")
        }
        guard named.resource.allSatisfy(\.isResource) else {
            throw ValidationError("--resource takes a URL or an application's ID here, not a scope")
        }
    }

    /// Runs the command with what makes it find lanyard.
    private func run(as standIn: StandIn, in session: Session) async throws(CommandError) -> Never {
        if let program = standIn.program {
            let variables = try standIn.variables(linking: program, in: session)
            try ProgramInPlace(words: command, variables: variables).run()
        }
        // Nobody can be asked once the command asks for tokens, so the user signs in now.
        for resource in named.resource {
            var one = self
            one.named.resource = [resource]
            _ = try await one.token(in: session)
        }
        let variables = try StandIn.variables(
            ofIdentityFor: named.resource,
            named.options(account: named.account) + (identity.map { ["--identity", $0] } ?? []), in: session.context)
        try ProgramInPlace(words: command, variables: variables).run()
    }

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context, options: interaction.values)
        if let standIn { try await run(as: standIn, in: session) }
        let acquired = try await token(in: session)
        context.mask([acquired.accessToken.reveal()])
        var variables = [Self.expiryVariable: acquired.expiresOn.map { String($0) } ?? ""]
        guard acquired.fields.isEmpty else {
            guard let keys = AWSProtocol.variables(of: acquired.fields, until: acquired.expiresOn),
                env.isEmpty
            else {
                throw CommandError(EngineError.severalParts(acquired.fields.keys.sorted(), place: url), in: context)
            }
            try ProgramInPlace(words: command, variables: keys.merging(variables as [String: String?]) { $1 }).run()
        }
        for name in env.isEmpty ? [Self.tokenVariable] : env { variables[name] = acquired.accessToken.reveal() }
        try ProgramInPlace(words: command, variables: variables).run()
    }
}

extension String {
    /// Whether it can be a resource: a URI or an application's ID, without a suffix.
    fileprivate var isResource: Bool {
        let isID = utf8.count == 36 && utf8.count { $0 == UInt8(ascii: "-") } == 4
        return (isID || hasBytes(":")) && !hasPrefix("-") && !hasSuffix(CredentialRequest.ExplicitToken.wholeResource)
            && utf8.allSatisfy(\.isVisibleASCII)
    }
}

/// The state that this process started with, and that a program in its place must get back.
///
/// Ignored and blocked signals and resource limits survive exec(2). lanyard changes some of them for itself, and
/// Swift's threads block most signals.
struct Inheritance: Sendable {
    private static let signals = 1..<Int32(65)

    private let ignored: Set<Int32>
    private let blocked: sigset_t
    private let coreLimit: rlimit

    /// The state at the start of the process; read it before anything is changed.
    static let atStart = Inheritance()

    private init() {
        ignored = Set(Self.signals.filter(Self.isIgnored))
        var mask = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &mask)
        blocked = mask
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        coreLimit = limit
    }

    /// Restores the state on this thread.
    ///
    /// Whether memory may be read needn't be restored, because the kernel decides it anew for each program.
    func restore() {
        for number in Self.signals where Self.isIgnored(number) && !ignored.contains(number) {
            signal(number, SIG_DFL)
        }
        for number in ignored { signal(number, SIG_IGN) }
        var mask = blocked
        pthread_sigmask(SIG_SETMASK, &mask, nil)
        var limit = coreLimit
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        // SIG_IGN isn't a function but the number 1, and Swift can only compare it as a number.
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }
}

/// A program that replaces this process, so that signals and the exit status are its own.
struct ProgramInPlace {
    /// The program's name, which is looked up in `PATH` if it has no slash, and its arguments.
    var words: [String]
    /// The variables to add to this process's; a nil value removes one.
    var variables: [String: String?]

    /// Runs the program; only returns if that fails.
    ///
    /// - Throws: `CommandError` with status 127 if there is no such program and 126 if it can't be executed, as in shells.
    func run() throws(CommandError) -> Never {
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        // This process's own variables are passed on byte for byte.
        var environment = inherited
        for (name, value) in variables.sorted(by: { $0.key < $1.key }) {
            if let value { environment.append(strdup("\(name)=\(value)")) }
        }
        environment.append(nil)
        // The program is looked up in this process's PATH.
        if let path = variables["PATH"] ?? nil { setenv("PATH", path, 1) }
        Inheritance.atStart.restore()
        let reason = -lanyard_exec(words[0], &arguments, &environment)
        throw CommandError(
            "\(words[0]) can't be run: \(String(cString: strerror(reason)))",
            status: reason == ENOENT ? .notFound : .notExecutable)
    }

    private var inherited: [UnsafeMutablePointer<CChar>?] {
        let replaced = variables.keys.map { "\($0)=" }
        var entries: [UnsafeMutablePointer<CChar>?] = []
        var next = environ
        while let entry = next.pointee {
            if !replaced.contains(where: { strncmp(entry, $0, $0.utf8.count) == 0 }) { entries.append(entry) }
            next += 1
        }
        return entries
    }
}

/// The token sources of other programs that lanyard can stand in for.
enum StandIn: String, CaseIterable, ExpressibleByArgument {
    case azureCLI = "azure-cli"
    case azd
    case managedIdentity = "managed-identity"

    /// The program that is asked; nil if it isn't a program.
    var program: String? {
        switch self {
        case .azureCLI: AzureCLIProtocol.program
        case .azd: AzureDeveloperCLIProtocol.program
        case .managedIdentity: nil
        }
    }

    /// Returns the variables that make a command find lanyard instead of the program.
    ///
    /// The folder with the link isn't removed, because the command replaces this process.
    func variables(linking program: String, in session: Session) throws(CommandError) -> [String: String?] {
        try requireClient(in: session.configuration)
        let folder = try makeFolder(with: program, in: session.context)
        let path = [folder, session.context.variable("PATH") ?? "/usr/local/bin:/usr/bin:/bin"].joined(separator: ":")
        guard self == .azureCLI else { return ["PATH": path] }
        // Older SDKs only search the system's folders and those in these variables.
        return ["PATH": path, "AZURE_CLI_PATH": folder, "AzureCLIPath": folder]
    }

    /// Returns the variables that make a command find a managed identity whose tokens are lanyard's.
    static func variables(
        ofIdentityFor resources: [String], _ options: [String], in context: CommandContext
    ) throws(CommandError) -> [String: String?] {
        let endpoint = try TokenEndpoint(serving: .managedIdentity, of: resources, options, in: context)
        let variables: [String: String?] = [
            "IDENTITY_ENDPOINT": "\(endpoint.url)/msi/token", "IDENTITY_HEADER": endpoint.secret.reveal(),
            // With one of these, SDKs assume a different kind of machine.
            "IDENTITY_SERVER_THUMBPRINT": nil, "IMDS_ENDPOINT": nil, "MSI_ENDPOINT": nil, "MSI_SECRET": nil,
        ]
        return variables.merging(unproxied(context)) { $1 }
    }

    /// Returns the variables that keep SDKs from sending local requests, and the secret in them, to a proxy.
    static func unproxied(_ context: CommandContext) -> [String: String?] {
        let proxies = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]
        guard proxies.contains(where: { context.variable($0) != nil }) else { return [:] }
        let names = ["no_proxy", "NO_PROXY"]
        let lists = names.map { context.variable($0) }
        let list = [lists[0] ?? lists[1], "127.0.0.1"].compactMap(\.self).joined(separator: ",")
        return Dictionary(uniqueKeysWithValues: names.map { ($0, list) })
    }

    /// Throws for a mistake that would otherwise show later, and only in an SDK's error.
    private func requireClient(in configuration: Configuration) throws(CommandError) {
        // An agent has its own settings.
        guard configuration.agent == nil else { return }
        guard let authority = configuration.authority else {
            throw CommandError(
                "no authority is configured, so programs can't say where to sign in",
                hints: [Hint("set one", run: "lanyard config set authority \(Example.wideAuthority)")])
        }
        guard configuration.clientID(at: authority) == nil else { return }
        throw CommandError(
            "no client ID is configured for \(authority)",
            hints: [Hint("set your app's, or", run: "lanyard config set client-id azure-cli")])
    }

    /// Makes the folder that contains only the link, in the user's runtime folder or else the state folder.
    private func makeFolder(with program: String, in context: CommandContext) throws(CommandError) -> String {
        let runtime = context.environment.ownRuntimeFolder.map { "\($0)/lanyard" }
        guard let parent = runtime ?? context.environment.stateFolder else {
            throw CommandError("there is no place for a link to lanyard", hints: ["set HOME or XDG_RUNTIME_DIR"])
        }
        let folder = "\(parent)/\(rawValue)"
        do throws(FileError) {
            Folder.make(parent)
            let above = try Folder(parent)
            try above.requireOwn(closedTo: 0o022)
            try above.privateFolder(rawValue, making: true)
                .link(program, to: context.executable)
        } catch {
            throw CommandError("\(folder) can't be used: \(error.reason)")
        }
        guard !folder.hasBytes(":") else {
            throw CommandError("\(folder) can't be in PATH: there is a colon in its name")
        }
        return folder
    }
}
