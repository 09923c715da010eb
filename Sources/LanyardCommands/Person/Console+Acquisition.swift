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
        case .waitingForAnother(let process):
            progress("waiting for another lanyard to sign in\(process.map { " (pid \($0))" } ?? "")", after: .zero)
        // What is stored is read several times.
        case .skippingDamaged:
            noteOnce(
                Hint("damaged items in the keyring are left out; to remove them", run: "lanyard cache clear --damaged"))
        case .renewing(let authority): progress("renewing the token at \(authority.hostForPeople)")
        case .signedIn(let account):
            note("signed in as \(account.nameForPeople)\(account.broker == nil ? "" : ", by the machine's broker")")
        case .askingBroker: progress("asking the machine's broker for a token")
        case .authenticating(let authority): progress("getting a token from \(authority.hostForPeople)")
        case .exchanging(let host): progress("asking \(host.displayable(limit: 255)) to exchange the token")
        case .startingSignIn(let authority): progress("asking \(authority.hostForPeople) for its sign-in page")
        }
    }
}
