import Addresses
import ArgumentParser
import CommandKit
import CredentialEngine
import Glibc
import JSON
import Keyring
import Model
import Rules
import Secrets
import Terminal
import TokenAcquisition
import Tools

struct TokenCommand: TokenNamingCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Print an access token, or an ID token.",
        discussion: """
            For a URL that a rule maps, or for an authority, client ID and scopes given as options. With --decode, prints \
            the token's claims instead of the token, and those of the ID token that belongs to it.
            """)

    static let examples: KeyValuePairs = [
        "Print the token for a URL": "lanyard token \(Example.url)",
        "Call Microsoft Graph, with the token kept off the command line": """
        lanyard token --header \(Example.graphURL) |
          curl --header @- \(Example.graphURL)/v1.0/me
        """,
        "See whom a token is for, and what it permits": "lanyard token --decode \(Example.graphURL)",
        "Print the ID token of the app": "lanyard token --id-token \(Example.url)",
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

    @Flag(help: "Print the ID token that the authority issued to the app, and not the access token.")
    var idToken = false

    var kind: TokenRequest.Kind? { idToken ? .id : nil }

    mutating func validate() throws {
        if json, header { throw ValidationError("give --json or --header, not both") }
        if decode, header { throw ValidationError("give --decode or --header, not both") }
    }

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context, options: interaction.values)
        let acquired = try await token(in: session)
        let console = session.context.console
        if decode { return try show(acquired, try await idToken(of: acquired, in: session), console, now: context.now) }
        // A header may contain the token in another form.
        let authorization = header ? Self.authorization(acquired) : ""
        let proof = authorization.cut(at: " ").map { [String($0.1)] } ?? []
        context.mask([acquired.accessToken.reveal()] + proof)
        if json {
            var members = AzureCLIProtocol.token(
                acquired.accessToken, type: acquired.tokenType, tenant: acquired.realm,
                expiresOn: Credential(acquired, at: nil).end)
            if session.configuration.agent == nil, !acquired.isExchanged,
                try await request(in: session).request.token == .id
            {
                members["idToken"] = members.removeValue(forKey: "accessToken")
                members["tokenType"] = nil
            }
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

    /// Returns the ID token that belongs to a token; nil if there is none here.
    private func idToken(
        of token: AcquiredToken, in session: Session
    ) async throws(CommandError) -> IDTokenRecord? {
        guard session.configuration.agent == nil, token.account != nil else { return nil }
        return try session.idToken(of: token, for: try await request(in: session).request.clientID)
    }

    /// Prints the content of a token, and of the ID token that belongs to it.
    private func show(
        _ token: AcquiredToken, _ other: IDTokenRecord?, _ console: Console, now: Int
    ) throws(CommandError) {
        // What is printed anyway, because it was asked for or the rule says so, is shown once.
        let identity = other.flatMap {
            $0.secret == token.accessToken ? nil : try? DecodedToken($0.secret, now: now)
        }
        let told = other?.userInfo.flatMap { JSONValue(bytes: $0.utf8) }?.members.map {
            DecodedToken(claims: $0, now: now)
        }
        let decoded: DecodedToken?
        do throws(CommandError) { decoded = try DecodedToken(token.accessToken, now: now) } catch {
            guard identity != nil else { throw error }
            console.note(Hint(error.message))
            decoded = nil
        }
        if json {
            var members = decoded?.json.members ?? ["header": .null, "claims": .null, "times": [:], "verified": false]
            members["idToken"] = identity?.json ?? .null
            members["userinfo"] = told.map(\.claimsJSON) ?? .null
            return console.print(json: .object(members))
        }
        let parts = [(nil, decoded), ("ID token", identity), ("UserInfo", told)].compactMap { title, part in
            part.map { (title, $0.lines(columns: Console.columns)) }
        }
        for (index, (title, lines)) in parts.enumerated() {
            if index > 0 { console.print("") }
            if let title { console.print("\(title):") }
            for line in lines { console.print(line) }
        }
        console.note("decoded only: the token's signature was not verified")
    }
}
