internal import JSON

/// The turn of a process to have the user unlock or create the keyring, so that one window opens for all who need it.
///
/// gnome-keyring opens a window for each request, and forgets all but one if the user dismisses that.
struct KeyringTurn: ~Copyable {
    private static let key = "keyring prompt"
    /// Seconds to wait for a user who is asked by another process.
    private static let patience = 900.0

    private let file: LockFile?
    private let notes: SharedNotes

    init(_ environment: [String: String]) {
        file = try? SingleFlight(environment: environment).open(Self.key)
        notes = SharedNotes(environment: environment)
    }

    /// Waits for the turn, which ends with this value; false if it didn't come.
    ///
    /// Where there can be no locks, it is always this process's turn.
    func take() -> Bool {
        guard let isLocked = try? file?.lock(within: Self.patience) else { return true }
        return isLocked
    }

    /// Whether the user said no to a process that had its turn since this time in `SharedNotes.milliseconds`.
    func wasDeclined(since time: Int) -> Bool {
        notes.note(about: Self.key)?["at"]?.time.map { $0 >= time } ?? false
    }

    /// Tells the processes that wait that the user said no.
    func noteDeclined() { notes.leaveTime(about: Self.key) }
}
