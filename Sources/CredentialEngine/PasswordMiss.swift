import Addresses
import JSON
import Rules
import TokenStore

/// The note that no password was found for a request the last time, as for a host whose passwords another helper has.
///
/// The next `get` looks again, but opens the way to secrets only once something is found: a session takes the provider
/// longer than all the rest. A note that is wrong by now costs as much time as it would save.
struct PasswordMiss {
    private let key: String
    private let notes: SharedNotes
    private let isNoted: Bool

    init(_ request: CredentialRequest, in surroundings: Surroundings) {
        // A tool that sends whole URLs has more of them than there is room for notes.
        let path = request.reach == .place ? request.path : nil
        let parts = [request.scheme, request.host?.text, path, request.username]
        key = "vain\n" + parts.map { $0.map { "\($0.utf8.count) \($0)" } ?? "-" }.joined(separator: "\n")
        notes = SharedNotes(runtimeFolderOf: surroundings.environment)
        isNoted = notes.note(about: key) != nil
    }

    /// Has the keyring opened if secrets are likely to be read.
    func prepare() {
        if !isNoted { KeyringConfiguration.open() }
    }

    func note(isMiss: Bool) {
        guard isMiss != isNoted else { return }
        if isMiss { notes.leave(.bool(true), about: key) } else { notes.remove(about: key) }
    }
}
