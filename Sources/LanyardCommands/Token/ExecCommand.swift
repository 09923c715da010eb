import ArgumentParser
import Claims
import Rules
import Secrets
import TokenAcquisition

struct ExecCommand: TokenNamingCommand {
    static let configuration = CommandConfiguration(
        commandName: "exec", abstract: "Run a command with an access token in its environment.",
        usage: "lanyard exec [<options>] [<url>] -- <command> [<argument> ...]",
        discussion: """
            The command replaces lanyard, so signals and the exit status are its own. Without a token it doesn't run. \
            \(ExecCommand.expiryVariable) holds the time when the token expires, in seconds since 1970; it is empty if \
            that isn't known. With --as the command gets no token: it finds lanyard where it looks for another program, \
            and asks for tokens by itself.
            """)

    static let examples: KeyValuePairs = [
        "List an organisation's repositories with the Azure CLI": """
        lanyard exec \(Example.url) --env AZURE_DEVOPS_EXT_PAT -- \\
          az repos list --organization \(Example.url)
        """,
        "Have programs with an SDK of Azure sign in with lanyard": "lanyard exec --as azure-cli -- terraform plan",
    ]

    /// Where the token is unless `--env` says.
    static let tokenVariable = "LANYARD_ACCESS_TOKEN"
    /// Where its end is.
    static let expiryVariable = "LANYARD_TOKEN_EXPIRES_ON"

    @Argument(help: .tokenURL) var url: String?

    @OptionGroup(title: "Token") var named: NamedTokenOptions
    @OptionGroup(title: "Sign-in") var interaction: InteractionOptions
    @OptionGroup(title: "Sign-in page") var signIn: SignInOptions
    @OptionGroup(title: "Sign-in page") var page: SignInPageOptions

    @Option(
        help: ArgumentHelp(
            "The variable for the token instead of \(ExecCommand.tokenVariable); may be repeated.",
            valueName: "name"))
    var env: [String] = []

    @Option(
        name: .customLong("as"), help: ArgumentHelp("The program that lanyard stands in for.", valueName: "program"))
    var standIn: StandIn?

    @Argument(
        parsing: .postTerminator, help: ArgumentHelp("The command and its arguments, after --.", valueName: "command"))
    var command: [String] = []

    mutating func validate() throws {
        guard !command.isEmpty else {
            throw ValidationError("name the command after --, as in: lanyard exec -- make release")
        }
        guard standIn == nil || url == nil && !named.isTokenNamed && env.isEmpty else {
            throw ValidationError("with --as the command says itself which tokens it needs; leave the rest out")
        }
        for name in env {
            guard name.isVariableName else {
                throw ValidationError("--env takes the name of a variable, which \(name) can't be")
            }
            guard name != Self.expiryVariable else {
                throw ValidationError("\(name) holds when the token expires; take another name")
            }
        }
    }

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context, options: interaction.values)
        if let standIn {
            let variables = try standIn.variables(in: session)
            try ProgramInPlace(words: command, variables: variables).run()
        }
        let (request, url) = try await request(in: session)
        let acquired = try await session.token(for: request, url: url)
        context.mask([acquired.accessToken.reveal()])
        var variables = [Self.expiryVariable: acquired.expiresOn.map { String($0) } ?? ""]
        for name in env.isEmpty ? [Self.tokenVariable] : env { variables[name] = acquired.accessToken.reveal() }
        try ProgramInPlace(words: command, variables: variables).run()
    }
}
