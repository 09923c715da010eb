import Addresses
import ArgumentParser
import CredentialEngine
import Glibc
import JSON
import Rules
import Secrets
import Terminal
import TokenAcquisition
import Tools

struct TokenCommand: TokenNamingCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Print an access token.",
        discussion: """
            For a URL that a rule maps, or for an authority, client ID and scopes given as options. With --decode, prints \
            the token's claims instead of the token.
            """)

    static let examples: KeyValuePairs = [
        "Print the token for a URL": "lanyard token \(Example.url)",
        "Call Microsoft Graph, with the token kept off the command line": """
        lanyard token --header \(Example.graphURL) |
          curl --header @- \(Example.graphURL)/v1.0/me
        """,
        "See whom a token is for, and what it permits": "lanyard token --decode \(Example.graphURL)",
    ]

    @Argument(help: .tokenURL) var url: String?

    @OptionGroup(title: "Token") var named: NamedTokenOptions
    @OptionGroup(title: "Token") var whose: IdentityOption
    @OptionGroup(title: "Sign-in") var interaction: InteractionOptions
    @OptionGroup(title: "Sign-in page") var signIn: SignInOptions
    @OptionGroup(title: "Sign-in page") var page: SignInPageOptions

    var identity: String? { whose.identity }

    @Flag(help: "Print JSON as `az account get-access-token` does.")
    var json = false

    @Flag(help: "Print an Authorization header, for `curl --header @-`.")
    var header = false

    @Flag(help: "Print the claims of a JWT, unverified, and not the token; with --json as JSON.")
    var decode = false

    mutating func validate() throws {
        if json, header { throw ValidationError("give --json or --header, not both") }
        if decode, header { throw ValidationError("give --decode or --header, not both") }
    }

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context, options: interaction.values)
        let acquired = try await token(in: session)
        let console = session.context.console
        if decode { return try show(acquired, console, now: context.now) }
        // A header may contain the token in another form.
        let authorization = header ? Self.authorization(acquired) : ""
        let proof = authorization.cut(at: " ").map { [String($0.1)] } ?? []
        context.mask([acquired.accessToken.reveal()] + proof)
        if json {
            let members = AzureCLIConsumer.token(
                acquired.accessToken, type: acquired.tokenType, tenant: acquired.realm,
                expiresOn: Credential(acquired, at: nil).end)
            console.print(json: .object(members))
        } else if header {
            console.print("Authorization: \(authorization)")
        } else {
            console.print(acquired.accessToken.reveal())
        }
    }

    /// Returns the value of an `Authorization` header with a token, or with what it was exchanged for.
    private static func authorization(_ token: AcquiredToken) -> String {
        guard token.isExchanged else { return "\(token.tokenType) \(token.accessToken.reveal())" }
        return Credential(token, at: nil).authorizationHeader
    }

    /// Prints the content of a token.
    private func show(_ token: AcquiredToken, _ console: Console, now: Int) throws(Failure) {
        do throws(DecodedToken.Obstacle) {
            let decoded = try DecodedToken(token.accessToken, now: now)
            if json { return console.print(json: decoded.json) }
            for line in decoded.lines(columns: OutputWidth.ofTerminal) { console.print(line) }
            console.note("decoded only: the token's signature was not verified")
        } catch {
            throw Failure(error)
        }
    }
}
