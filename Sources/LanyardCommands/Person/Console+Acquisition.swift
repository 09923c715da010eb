import Secrets
import Synchronization
import Terminal
import TokenAcquisition
import TokenStore

extension Console {
    /// Shows the progress of acquiring a token if a step takes longer than a second.
    ///
    /// - Parameters:
    ///   - what: what it is.
    ///   - damage: what tells of damaged items once, however often what is stored is read.
    func tell(_ what: AcquisitionProgress, _ damage: DamageNote) {
        switch what {
        case .usingKeyring: progress("waiting for the keyring; it may ask for its password in a window")
        // The user has already waited for a while.
        case .waitingForAnother(let process):
            progress("waiting for another lanyard to sign in\(process.map { " (pid \($0))" } ?? "")", after: .zero)
        case .skippingDamaged: damage.tell(on: self)
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

/// The note that damaged items are left out, which is told once.
final class DamageNote: Sendable {
    private let isTold = Atomic<Bool>(false)

    fileprivate func tell(on console: Console) {
        guard !isTold.exchange(true, ordering: .relaxed) else { return }
        console.note(
            Hint("damaged items in the keyring are left out; to remove them", run: "lanyard cache clear --damaged"))
    }
}
