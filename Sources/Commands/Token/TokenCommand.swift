import Addresses
import ArgumentParser
import CommandKit
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
            let members = AzureCLIProtocol.token(
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
    private func show(_ token: AcquiredToken, _ console: Console, now: Int) throws(CommandError) {
        let decoded = try DecodedToken(token.accessToken, now: now)
        if json { return console.print(json: decoded.json) }
        for line in decoded.lines(columns: OutputWidth.ofTerminal) { console.print(line) }
        console.note("decoded only: the token's signature was not verified")
    }
}

/// The content of an access token that is a JSON Web Token (RFC 7519); its signature isn't verified.
struct DecodedToken {
    private let header: [String: JSONValue]
    private let claims: [String: JSONValue]
    private let now: Int

    /// Decodes a token without its signature.
    init(_ token: Secret, now: Int) throws(CommandError) {
        self.now = now
        guard let token = WebToken(token.reveal()), let header = JSONValue(bytes: token.header)?.members,
            header["alg"] != nil
        else { throw .opaqueToken }
        guard let payload = token.payload else { throw .encryptedToken }
        guard let claims = JSONValue(bytes: payload)?.members else { throw .opaqueToken }
        self.header = header
        self.claims = claims
    }

    /// The claims of RFC 7519 and RFC 9068, which are shown first.
    private static let wellKnown = ["aud", "iss", "sub", "client_id", "scope", "exp", "nbf", "iat", "auth_time", "jti"]
    /// The years 1 to 9999.
    private static let years = -62_135_596_800..<253_402_300_800
    private static let times = ["exp", "nbf", "iat", "auth_time"]

    /// The value of a claim; nil if the token doesn't have it.
    subscript(claim: String) -> JSONValue? { claims[claim] }

    /// Returns the claims for people, one per line, laid out for a number of columns.
    func lines(columns: Int?) -> [String] {
        let first = Self.wellKnown.filter { claims[$0] != nil }
        let names = first + claims.keys.filter { !first.contains($0) }.sorted()
        let rows = names.map { [$0.displayable(limit: 60), text(of: $0)] }
        return Table(rows, atLeast: [9]).wrapped(columns: columns, indent: 0)
    }

    private func text(of name: String) -> String {
        let value = claims[name] ?? .null
        if let time = time(of: name) {
            return "\(Lifetime.local(time)), \(distance(to: time))"
        }
        let texts = value.elements.compactMap(\.string)
        if !texts.isEmpty, texts.count == value.elements.count {
            return texts.map { $0.displayable() }.joined(separator: " ")
        }
        return (value.string ?? value.encodedText).displayable(limit: 2000)
    }

    /// Returns the value of a claim that is a time, in seconds since 1970; nil for any other claim.
    private func time(of name: String) -> Int? {
        guard Self.times.contains(name), let time = claims[name]?.wholeNumber else { return nil }
        return Self.years.contains(time) ? time : nil
    }

    private func distance(to time: Int) -> String {
        let span = abs(time - now).timeInWords
        return time > now ? "in \(span)" : "\(span) ago"
    }

    /// The claims as JSON, unchanged, with the times in words in addition.
    var json: JSONValue {
        let times = Self.times.compactMap { name in
            time(of: name).map { (name, JSONValue.string(Moment.utc($0))) }
        }
        return [
            "header": .object(header), "claims": .object(claims),
            "times": .object(Dictionary(uniqueKeysWithValues: times)), "verified": false,
        ]
    }
}

extension CommandError {
    static let opaqueToken = CommandError(
        "the access token is not a JWT: only its authority and the API that it is for can read it")
    /// The error for a JWT that only the API can decrypt (RFC 7516).
    static let encryptedToken = CommandError("the access token is encrypted: only the API that it is for can read it")
}
