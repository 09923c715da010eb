import PluginWire
import Rules
import Secrets
import Terminal
import TokenAcquisition
import TokenStore

// Why only the person can go on: who it is about, where, and what the authority said.

extension Failure {
    /// A sign-in that nobody is there for; the cause is what the authority said, where it was asked.
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
            // Such as that of another client, or one whose refresh token was refused before.
            let client = request.clientID.displayable(limit: 100)
            why = ": \(account.nameForPeople) has no sign-in to renew at \(authority) with the client ID \(client)"
        } else {
            let who = request.expectedAccount.map { "\($0.displayable(limit: 100)) has not" } ?? "nobody has"
            why = ": \(who) signed in to \(authority)"
        }
        var hint = cause?.hint.map { [Hint($0.displayable(limit: 500))] } ?? []
        if let account, cause?.isAboutAccount == true, request.expectedAccount == nil {
            hint.append(Self.choosingAnother(than: account, request, url: url))
        }
        self.init(
            "interaction required\(why)",
            hints: hint + [Hint("sign in", run: Self.login(request, url: url, claims: cause?.claims))],
            status: .interactionRequired)
    }

    /// A sign-in that nobody is there for, at `login`.
    init(nobodyToSignIn request: TokenRequest, url: String?) {
        self.init(
            "interaction required: nobody is there to sign in to \(request.authority.displayable(limit: 255))",
            hints: [Hint("see why", run: "lanyard doctor"), Hint("at a terminal", run: Self.login(request, url: url))],
            status: .interactionRequired)
    }

    /// Another account than the one that was named; its sign-in is kept.
    init(signedIn account: AccountRecord, insteadOf wanted: String, request: TokenRequest, url: String?) {
        let name = account.nameForPeople
        self.init(
            "\(name) signed in instead of \(wanted.displayable(limit: 100))",
            hints: [
                Hint(
                    "sign in again and pick it",
                    run: "\(Self.login(request.naming(wanted), url: url)) --prompt select_account"),
                Hint("\(name) stays signed in; to use it", run: account.useCommand),
                Hint("to sign it out", run: account.logoutCommand),
            ])
    }
}

extension AccountRecord {
    fileprivate var logoutCommand: ShellCommand { "lanyard logout\(last: nameForPeople)" }
}
