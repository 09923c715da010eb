import Addresses
import JSON
import Rules
import TokenStore

/// A note that the last request found no password, for example because another helper stores this host's passwords.
///
/// With such a note, the next `get` still searches, but opens a session with the keyring only if it finds an item: a
/// session takes the provider longer than everything else. An outdated note costs as much time as a valid one saves.
struct PasswordMiss {
    private let key: String
    private let notes: SharedNotes
    private let keyring: KeyringConnection
    private let isNoted: Bool

    init(_ request: CredentialRequest, in surroundings: Surroundings) {
        // A tool that sends whole URLs has more of them than there is room for notes.
        let path = request.reach == .place ? request.path : nil
        let parts = [request.scheme, request.host?.text, path, request.username]
        key = "vain\n" + parts.map { $0.map { "\($0.utf8.count) \($0)" } ?? "-" }.joined(separator: "\n")
        keyring = surroundings.keyring
        notes = SharedNotes(runtimeFolderOf: surroundings.environment)
        isNoted = notes.note(about: key) != nil
    }

    /// Opens a session with the keyring if secrets are likely to be read.
    func prepare() {
        if !isNoted { keyring.open() }
    }

    func note(isMiss: Bool) {
        guard isMiss != isNoted else { return }
        if isMiss { notes.leave(.bool(true), about: key) } else { notes.remove(about: key) }
    }
}
