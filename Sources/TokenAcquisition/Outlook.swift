public import AuthorityPlugin
public import Rules
public import TokenStore

/// What `get` would come to for a request, found out without a prompt, a plugin or a change.
public struct Outlook: Sendable {
    /// How the account was chosen.
    public enum Choice: String, Sendable {
        /// The request, the rule or the configuration names it.
        case named
        /// The user name in the URL is an account's.
        case username
        /// The person selected it last.
        case selected
        /// There is no other.
        case onlyOne = "only-one"
    }

    /// What would be done first.
    public enum Step: Sendable {
        /// The stored token is handed out.
        case answer
        /// A refresh token is redeemed.
        case renew
        /// Only the person helps.
        case signIn
        /// Nothing can be done.
        case fail(AcquisitionError)
    }

    /// Which plugin serves the authority; nil where none does.
    public var match: AuthorityMatch?
    /// Every account that could be meant.
    public var accounts: [AccountRecord] = []
    /// The account that is meant; nil where nobody has signed in, or several could be meant.
    public var account: AccountRecord?
    /// How it was chosen.
    public var choice: Choice?
    /// The stored access token that is to be handed out, or was last.
    public var accessToken: AccessTokenRecord?
    /// The refresh tokens that would be tried.
    public var refreshTokens: [RefreshTokenRecord] = []
    /// What would be done first.
    public var step: Step
}

extension TokenAcquirer {
    /// What `token(for:person:)` would do now.
    public func outlook(for request: TokenRequest) -> Outlook {
        var outlook = Outlook(step: .signIn)
        do throws(AcquisitionError) {
            let authority = try match(request)
            outlook.match = authority.match
            let records = try load(authority.place)
            let known = known(records.accounts, authority)
            outlook.accounts = known.accounts
            guard let account = try known.account(named: request.account, hint: request.userHint) else {
                return outlook
            }
            outlook.account = account
            outlook.choice = choice(of: account, among: known, request)
            let selection = SilentSelection(
                records, place: authority.place, account: account, request: request, now: clock())
            let found = SilentAccount(account: account, selection: selection, records: records)
            outlook.accessToken = selection.freshToken ?? selection.lastResort
            outlook.refreshTokens = selection.redeemable
            if found.usable(renewsEarly: outlook.refreshTokens.isEmpty == false) != nil {
                outlook.step = .answer
            } else if !outlook.refreshTokens.isEmpty {
                outlook.step = .renew
            }
        } catch {
            outlook.step = .fail(error)
        }
        return outlook
    }

    private func choice(
        of account: AccountRecord, among known: AccountSelection, _ request: TokenRequest
    ) -> Outlook.Choice {
        if request.account != nil { return .named }
        if let hint = request.userHint, account.isNamed(hint) { return .username }
        return known.accounts.count > 1 ? .selected : .onlyOne
    }
}
