import ArgumentParser
import Rules
import Secrets
import Terminal

/// What says which token is meant: a URL that a rule maps, or authority and scopes by name.
struct TokenOptions: ParsableArguments {
    @Argument(help: "The URL that needs the token; a rule or a plugin says which.")
    var url: String?

    @Option(help: ArgumentHelp("The authority.", valueName: "url"))
    var authority: String?

    @Option(help: ArgumentHelp("The application's client id.", valueName: "id"))
    var clientId: String?

    @Option(help: ArgumentHelp("A scope; may be given several times.", valueName: "scope"))
    var scope: [String] = []

    @Option(help: ArgumentHelp("The account, by user name or identifier; its beginning will do.", valueName: "account"))
    var account: String?

    @Option(
        help: ArgumentHelp(
            "A resource, short for its scope RESOURCE/.default; may be given several times.", valueName: "resource"))
    var resource: [String] = []

    @OptionGroup var claims: ClaimsOptions
    @OptionGroup var signIn: SignInOptions

    /// The request that the options come to.
    ///
    /// Without any of them it is the only rule's, if the configuration has just one.
    func request(in session: Session) async throws(Failure) -> (request: TokenRequest, url: String?) {
        var asked = CredentialRequest()
        if let url = try place(in: session) {
            asked = try CredentialRequest(url: url)
        }
        asked.wish.authority = authority
        asked.wish.clientID = clientId
        asked.wish.scopes = scope + resource.map(Self.scope(ofResource:))
        asked.wish.account = try await accountMeant(in: session)
        asked.wish.claims = try claims.request()
        try signIn.write(to: &asked.wish)
        guard let request = try session.resolve(asked) else {
            guard asked.host != nil else { throw Failure(.incomplete, in: session.context) }
            throw Failure(noRuleMaps: asked)
        }
        return (request, asked.host == nil ? nil : asked.url)
    }

    /// The account as the rules and the store know it.
    ///
    /// Only what may be the beginning of a name is worth a look at who has signed in.
    private func accountMeant(in session: Session) async throws(Failure) -> String? {
        guard let account, !account.isWholeAddress else { return account }
        return try await session.unlocking(for: url) { () throws(Failure) in
            try session.accounts().name(typed: account)
        }
    }

    /// The scope that means all of a resource's; a slash that the resource ends in stays, as it does for az.
    static func scope(ofResource resource: String) -> String { resource + "/.default" }

    private func place(in session: Session) throws(Failure) -> String? {
        if let url { return url }
        guard authority == nil, scope.isEmpty, resource.isEmpty else { return nil }
        let rules = session.configuration.rules
        if rules.count == 1 { return rules[0].pattern.text }
        guard !rules.isEmpty else {
            throw Failure(
                "there are no rules yet that say which token is meant",
                hints: [
                    Hint("make one for git", run: "lanyard configure git URL"),
                    Hint("or for other tools", run: "lanyard rule add URL"),
                    Hint("or name the token", write: "--authority URL --client-id ID --scope SCOPE"),
                ], status: .usage)
        }
        let urls = rules.map { $0.pattern.text.displayable(limit: 200) }.joined(separator: ", ")
        throw Failure("which of them: \(urls)?", hints: ["add one of them to the command"], status: .usage)
    }
}
