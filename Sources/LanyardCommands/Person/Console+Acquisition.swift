import Files
import Secrets
import Terminal
import TokenAcquisition
import TokenStore

extension Console {
    /// Shows the progress of acquiring a token if a step takes longer than a second.
    func tell(_ what: AcquisitionProgress) {
        switch what {
        case .usingKeyring: progress("waiting for the keyring; it may ask for its password in a window")
        // The user has already waited for a while.
        case .waitingForAnother(let process, let work): tell(ofWaitFor: process, work)
        // What is stored is read several times.
        case .skippingDamaged:
            noteOnce(
                Hint("damaged items in the keyring are left out; to remove them", run: "lanyard cache clear --damaged"))
        case .renewing(let authority):
            progress("renewing the token at \(authority.hostForPeople)", orSayingAfter: .seconds(10))
        case .signedIn(let account):
            note("signed in as \(account.nameForPeople)\(account.broker == nil ? "" : ", by the machine's broker")")
        case .askingBroker: progress("asking the machine's broker for a token")
        case .authenticating(let authority):
            progress("getting a token from \(authority.hostForPeople)", orSayingAfter: .seconds(10))
        case .exchanging(let host):
            progress("asking \(host.displayable(limit: 255)) to exchange the token", orSayingAfter: .seconds(10))
        case .startingSignIn(let authority): progress("asking \(authority.hostForPeople) for its sign-in page")
        }
    }
}

extension Console {
    /// Names the process that is waited for: at once on a terminal or if it has been stopped, else if it takes long.
    private func tell(ofWaitFor process: Int32?, _ work: SharedWork) {
        let text = "waiting for another lanyard to \(work.forPeople)\(process.map { " (pid \($0))" } ?? "")"
        if let process, LockHolder.isStopped(process) {
            noteOnce(
                Hint(
                    "\(text), which is stopped; to let it go on",
                    run: ShellCommand(words: ["kill", "-CONT", String(process)])))
        }
        progress(text, after: .zero, orSayingAfter: .seconds(10))
    }
}

extension SharedWork {
    fileprivate var forPeople: String {
        switch self {
        case .signIn: "sign in"
        case .renewal: "renew the token"
        case .authentication: "get the token"
        case .exchange: "exchange the token"
        }
    }
}
