public import PluginHost
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
        /// The person chose it for this authority.
        case selectedHere = "selected-here"
        /// The person chose it for all authorities.
        case selected
        /// It has a token for this authority and client, and no other has or was chosen as lately.
        case hasToken = "has-token"
        /// It is the only one from this tenant.
        case atHome = "at-home"
        /// It is the only one that another client has used at this tenant.
        case hasBeenHere = "has-been-here"
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
    /// Whether the authority is known to accept it: else a renewal may be refused.
    public var isKnown = true
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
            let known = known(records, authority, request)
            outlook.accounts = known.accounts
            guard let decision = try known.decision(named: request.account, hint: request.userHint) else {
                return outlook
            }
            let account = decision.account
            outlook.account = account
            outlook.choice = decision.choice
            outlook.isKnown = known.isKnown(account)
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
}
