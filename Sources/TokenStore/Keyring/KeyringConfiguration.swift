internal import SecretService

/// Where and how records are stored.
public struct KeyringConfiguration: Sendable {
    /// The default number of seconds that the provider may take for one call.
    public static let defaultDeadline = 2.0

    /// A collection of the Secret Service, by its alias.
    public enum Collection: String, Sendable {
        /// The user's default keyring, on disk.
        case `default`
        /// The provider's memory, which needs no unlocking and is lost at log-out.
        case session
    }

    /// The connection to the keyring's service.
    public var connection: KeyringConnection
    /// The group of the items, like a keychain access group: items in the same group are shared.
    public var group: String
    /// The collection of new items.
    public var collection: Collection
    /// The number of seconds that the provider may take for one call, except for a prompt that the user answers and for
    /// one that is busy, which may take fifteen times as long.
    public var deadline: Double
    /// Whether the provider may ask the user to unlock the keyring.
    ///
    /// It never does over SSH (`SSH_CONNECTION` is set), where the prompt would open on somebody else's screen.
    public var mayPrompt: Bool
    /// The cache of answers based on this keyring, which every change clears; nil if there is none.
    public var answers: AnswerCache?

    /// Creates a configuration.
    public init(
        _ connection: KeyringConnection, group: String, collection: Collection = .default,
        deadline: Double = Self.defaultDeadline, mayPrompt: Bool = false, answers: AnswerCache? = nil
    ) {
        self.connection = connection
        self.group = group
        self.collection = collection
        self.deadline = deadline
        self.mayPrompt = mayPrompt
        self.answers = answers
    }

    /// Makes a change to the store, after which no cached answer is valid.
    func changing<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        guard let answers else { return try body() }
        return try answers.changing(body)
    }

    /// Runs an operation on the keyring; the operation must be safe to run twice.
    func withKeyring<Result>(
        _ body: (borrowing KeyringSession) throws(ServiceFailure) -> Result
    ) throws(StoreError) -> Result {
        var access = KeyringAccess(
            alias: collection.rawValue, isConfined: collection == .session, deadline: deadline, mayPrompt: mayPrompt)
        do throws(ServiceFailure) {
            do throws(ServiceFailure) {
                return try connection.service.run(access, body)
            } catch  where error.wantsTurn {
                // By the time it is this process's turn, the keyring may be open.
                access.hasTurn = true
                return try taking(turn: KeyringTurn(connection.environment)) { () throws(ServiceFailure) in
                    try connection.service.run(access, body)
                }
            }
        } catch {
            var error = StoreError(error)
            explain(&error)
            throw error
        }
    }

    /// Runs an operation when it is this process's turn to have the user unlock or create the keyring.
    private func taking<Result>(
        turn: consuming KeyringTurn, _ body: () throws(ServiceFailure) -> Result
    ) throws(ServiceFailure) -> Result {
        let began = SharedNotes.milliseconds
        guard turn.take() else { throw ServiceFailure(.locked) }
        // A "no" while this process waited was its answer, too.
        if turn.wasDeclined(since: began) { throw ServiceFailure(.denied, detail: "another process was told no") }
        do throws(ServiceFailure) {
            return try body()
        } catch {
            if error.isDeclined { turn.noteDeclined() }
            throw error
        }
    }
}
