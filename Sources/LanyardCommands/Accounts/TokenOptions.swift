import ArgumentParser
import Claims
import Rules
import Secrets
import Terminal
import TokenAcquisition

/// A command whose arguments say which token is meant, and how to sign in for it.
///
/// The groups are the command's own: a debug build of the argument parser validates a group anew for each one that it is in, and
/// takes most of a second for three levels.
protocol TokenNamingCommand: Command {
    var url: String? { get }
    var named: NamedTokenOptions { get }
    var interaction: InteractionOptions { get }
    var signIn: SignInOptions { get }
    var page: SignInPageOptions { get }
}

extension ArgumentHelp {
    /// The help of a command's URL.
    static let tokenURL: ArgumentHelp = "The URL that needs the token; a rule or a plugin maps it."
}

extension TokenNamingCommand {
    /// The request that the options come to.
    ///
    /// Without any of them it is the only rule's, if the configuration has just one.
    func request(in session: Session) async throws(Failure) -> (request: TokenRequest, url: String?) {
        let asked = try await asked(in: session)
        // A script's request may be as incomplete; only here is it the command line that lacks something.
        guard asked.host != nil || named.isComplete(in: session.configuration) else {
            throw Failure(.incomplete, in: session.context).with(.usage)
        }
        guard let request = try session.resolve(asked) else { throw Failure(noRuleMaps: asked) }
        return (request, asked.host == nil ? nil : asked.url)
    }

    /// Gets the token that the options come to, from an agent if this machine has one.
    func token(in session: Session) async throws(Failure) -> AcquiredToken {
        guard session.configuration.agent != nil else {
            let (request, url) = try await request(in: session)
            return try await session.token(for: request, url: url)
        }
        guard url != nil || named.isTokenNamed else {
            throw Failure("an agent can only be asked for a URL", hints: ["add the URL to the command"], status: .usage)
        }
        return try session.forwardedToken(for: try await asked(in: session), interaction.values)
    }

    /// What the options ask for.
    private func asked(in session: Session) async throws(Failure) -> CredentialRequest {
        var asked = CredentialRequest()
        if let url = try place(in: session) {
            asked = try CredentialRequest(url: url)
        }
        try named.write(to: &asked.wish)
        asked.wish.account = try await accountMeant(in: session)
        try write(to: &asked.wish.signIn)
        return asked
    }

    /// The account as the rules and the store know it.
    ///
    /// Only what may be the beginning of a name is worth a look at who has signed in.
    private func accountMeant(in session: Session) async throws(Failure) -> String? {
        guard let account = named.account, !account.isWholeAddress else { return named.account }
        return try await session.unlocking(for: url) { () throws(Failure) in
            try session.accounts().name(typed: account)
        }
    }

    /// Puts the options that shape a sign-in into a wish.
    private func write(to wish: inout [SignInParameter: [String]]) throws(Failure) {
        var texts = page.texts
        texts[.loginHint] = signIn.loginHint.map { [$0] }
        _ = try SignInParameters(options: texts)
        wish.merge(texts) { $1 }
    }

    private func place(in session: Session) throws(Failure) -> String? {
        if let url { return url }
        guard !named.isTokenNamed else { return nil }
        let rules = session.configuration.rules
        if rules.count == 1 { return rules[0].pattern.text }
        guard !rules.isEmpty else {
            throw Failure(
                "no rule says yet which token to get",
                hints: [
                    Hint("add one for git", run: "lanyard configure git URL"),
                    Hint("or for other tools", run: "lanyard rule add URL"),
                    Hint("or name the token", write: "--authority URL --client-id ID --scope SCOPE"),
                ], status: .usage)
        }
        let urls = rules.map { $0.pattern.text.displayable(limit: 200) }.joined(separator: ", ")
        throw Failure(
            "several rules could apply: \(urls)", hints: ["add the URL of one to the command"], status: .usage)
    }
}

/// A token that is named instead of mapped, and what narrows down which one is meant.
struct NamedTokenOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The authority, such as \(Example.wideAuthority).", valueName: "url"))
    var authority: String?

    @Option(help: ArgumentHelp("The client ID of your app registration, or a client's name.", valueName: "id"))
    var clientId: String?

    @Option(help: ArgumentHelp("A scope; may be repeated.", valueName: "scope"))
    var scope: [String] = []

    @Option(help: ArgumentHelp("Short for the scope RESOURCE/.default; may be repeated.", valueName: "resource"))
    var resource: [String] = []

    @Option(
        help: ArgumentHelp("The account: a user name or an identifier, or the beginning of one.", valueName: "account"))
    var account: String?

    @Option(
        help: ArgumentHelp(
            "The identity to get the token as, an application's or a machine's.", valueName: "name"))
    var identity: String?

    @Option(help: ArgumentHelp("A claims request, as JSON.", valueName: "json"))
    var claims: String?

    @Option(
        help: ArgumentHelp(
            """
            A claim of id_token or access_token: TARGET.NAME, TARGET.NAME=essential, =value:V or =values:A,B; may be \
            repeated.
            """, valueName: "claim"))
    var claim: [String] = []

    /// Whether the token is named, and no rule's.
    var isTokenNamed: Bool { authority != nil || !scope.isEmpty || !resource.isEmpty }

    /// Whether the options name all that it takes without a URL.
    func isComplete(in configuration: Configuration) -> Bool {
        (identity ?? authority ?? configuration.authority) != nil && !(scope.isEmpty && resource.isEmpty)
    }

    /// The options that say whose tokens are meant, as they are typed; `account` is the whole name.
    func options(account: String?) -> [String] {
        let given = [
            ("--authority", authority), ("--client-id", clientId), ("--account", account), ("--identity", identity),
        ]
        return given.flatMap { name, value in value.map { [name, $0] } ?? [] }
    }

    /// Puts the options into a wish; the account as it was typed.
    ///
    /// - Throws: `Failure` with the status of a wrong command line.
    func write(to wish: inout CredentialRequest.TokenWish) throws(Failure) {
        wish.authority = authority
        wish.clientID = clientId
        wish.scopes = scope + resource.map(CredentialRequest.TokenWish.scope(ofResource:))
        wish.account = account
        wish.identity = identity
        wish.claims = try claimsRequest()
    }

    /// The claims request that the options come to; nil if they ask for none.
    ///
    /// - Throws: `Failure` with the status of a wrong command line.
    private func claimsRequest() throws(Failure) -> String? {
        do throws(ClaimsError) {
            var request = try claims.map { text throws(ClaimsError) in try ClaimsRequest(text) } ?? ClaimsRequest()
            for shortForm in claim { try request.ask(shortForm) }
            return request.text
        } catch {
            throw Failure(error, status: .usage)
        }
    }
}
