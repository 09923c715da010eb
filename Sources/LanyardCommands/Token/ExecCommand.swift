import Addresses
import ArgumentParser
import Claims
import Rules
import Secrets
import Terminal
import TokenAcquisition

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
            that isn't known. With --as the command gets no token: it finds lanyard where it looks for another program, \
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
    private func run(as standIn: StandIn, in session: Session) async throws(Failure) -> Never {
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
        for name in env.isEmpty ? [Self.tokenVariable] : env { variables[name] = acquired.accessToken.reveal() }
        try ProgramInPlace(words: command, variables: variables).run()
    }
}

extension String {
    /// Whether it can be a resource: a URI or an application's ID, without a suffix.
    fileprivate var isResource: Bool {
        let isID = utf8.count == 36 && utf8.count { $0 == UInt8(ascii: "-") } == 4
        return (isID || hasBytes(":")) && !hasPrefix("-") && !hasSuffix(CredentialRequest.TokenWish.wholeResource)
            && utf8.allSatisfy(\.isVisibleASCII)
    }
}
