import Secrets
import Synchronization
import Terminal
import TokenAcquisition
import TokenStore

extension Console {
    /// Tells what getting a token is busy with, should it take longer than a second.
    func tell(_ what: AcquisitionProgress) {
        switch what {
        case .usingKeyring: progress("waiting for the keyring; it may ask for its password in a window")
        // The wait has been a long one already.
        case .waitingForAnother(let process):
            progress("waiting for another lanyard to sign in\(process.map { " (pid \($0))" } ?? "")", after: .zero)
        case .skippingDamaged: Self.noteDamaged(on: self)
        case .renewing(let authority): progress("renewing the token at \(authority.hostForPeople)")
        case .signedIn(let account):
            note("signed in as \(account.nameForPeople)\(account.broker == nil ? "" : ", by the machine's broker")")
        case .askingBroker: progress("asking the machine's broker for a token")
        case .authenticating(let authority): progress("getting a token from \(authority.hostForPeople)")
        case .exchanging(let host): progress("asking \(host.displayable(limit: 255)) for what it takes")
        case .startingSignIn(let authority): progress("asking \(authority.hostForPeople) for its sign-in page")
        }
    }

    private static let hasNotedDamaged = Atomic<Bool>(false)

    /// Tells it once, however often what is stored is read.
    private static func noteDamaged(on console: Console) {
        guard !hasNotedDamaged.exchange(true, ordering: .relaxed) else { return }
        console.note(
            Hint("damaged items in the keyring are left out; to remove them", run: "lanyard cache clear --damaged"))
    }
}
