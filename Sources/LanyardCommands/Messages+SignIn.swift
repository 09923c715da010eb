import Addresses
import PluginWire
import Rules
import Secrets
import Terminal
import TokenAcquisition
import TokenStore

// Errors that only the user can resolve: which account, at which authority, and the authority's reason.

extension Failure {
    /// Creates the error for a sign-in that needs a user when there is none; `cause` is the authority's answer if it
    /// was asked.
    init(lackingInteraction cause: PluginError?, of account: AccountRecord?, request: TokenRequest, url: String?) {
        let authority = request.authority.displayable(limit: 255)
        let why: String
        if let cause {
            let place = account.map { " \($0.nameForPeople) at \(authority):" } ?? ""
            why = "\(Self.kind(of: cause)):\(place) \(Self.words(of: cause))"
        } else if let prompt = request.prompt, prompt != "none" {
            let who = account?.nameForPeople ?? "the person"
            why = ": \(who) must be asked at \(authority) (prompt \(prompt))"
        } else if let account {
            // For example, the sign-in is another client's, or its refresh token was refused before.
            let client = request.clientID.displayable(limit: 100)
            why = ": \(account.nameForPeople) has no sign-in to renew at \(authority) with the client ID \(client)"
        } else {
            let who = request.expectedAccount.map { "\($0.displayable(limit: 100)) has not" } ?? "nobody has"
            why = ": \(who) signed in to \(authority)"
        }
        var hints = cause?.hints ?? []
        if let account, cause?.isAboutAccount == true, request.expectedAccount == nil {
            hints.append(Self.choosingAnother(than: account, request, url: url))
        }
        self.init(
            "interaction required\(why)",
            hints: hints + [Hint("sign in", run: Self.login(request, url: url, claims: cause?.claims))],
            status: .interactionRequired)
    }

    /// Creates the error for `login` if there is no user.
    init(nobodyToSignIn request: TokenRequest, url: String?) {
        self.init(
            "interaction required: nobody is there to sign in to \(request.authority.displayable(limit: 255))",
            hints: [Hint("see why", run: "lanyard doctor"), Hint("at a terminal", run: Self.login(request, url: url))],
            status: .interactionRequired)
    }

    /// Creates the error for a sign-in with another account than the named one; the sign-in is stored.
    init(
        signedIn account: AccountRecord, insteadOf wanted: String, known: [AccountRecord], request: TokenRequest,
        url: String?
    ) {
        let name = account.nameForPeople
        let typed = known.distinctName(of: account)
        let again = Hint(
            "sign in again and pick it",
            run: "\(Self.login(request.naming(wanted), url: url)) --prompt select_account")
        let renamed =
            account.username.isAddress && wanted.isAddress
            ? Hint("if that account was renamed, write \(name) wherever you wrote \(wanted.displayable(limit: 100))")
            : nil
        self.init(
            "\(name) signed in instead of \(wanted.displayable(limit: 100))",
            hints: [
                again, Self.keeping(account, typed: typed, request, url: url),
                Hint("\(name) stays signed in; to sign it out", run: "lanyard logout\(last: typed, limit: 200)"),
                renamed,
            ].compactMap(\.self))
    }

    /// Returns how to continue with the account that signed in; at hosts with their own user names, it may be the one
    /// that was meant.
    ///
    /// A name in the URL takes precedence over any choice, so only another URL helps.
    private static func keeping(
        _ account: AccountRecord, typed: String, _ request: TokenRequest, url: String?
    ) -> Hint? {
        let isHostsOwn = account.hasUsername && !account.username.isAddress
        let host = account.environment.displayable(limit: 255)
        let calls = "if that is you, \(host) calls you \(account.nameForPeople)"
        guard request.account == nil else {
            return Hint(isHostsOwn ? "\(calls); to use it" : "to use it", run: .using(account: typed))
        }
        // The rule is only for the name in its own URL.
        guard isHostsOwn, request.usernameOfRule == nil, let named = url?.naming(user: account.username) else {
            return nil
        }
        return Hint("\(calls); name that in the URL", write: named.displayable(limit: 500))
    }
}

extension String {
    /// The URL with another user name, or with one; nil if it is none.
    func naming(user: String) -> String? {
        guard let url = StrictURL(self) else { return nil }
        return "\(url.scheme)://\(user.percentEncoded)@\(url.host.urlText)\(url.tail)"
    }
}
