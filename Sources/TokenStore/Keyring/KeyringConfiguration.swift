internal import SecretService

/// Where and how records are kept.
public struct KeyringConfiguration: Sendable, Equatable {
    /// How many seconds the provider may take for one call if nobody says otherwise.
    public static let defaultDeadline = 2.0

    /// A collection of the Secret Service, by its alias.
    public enum Collection: String, Sendable {
        /// The person's own keyring, on disk.
        case `default`
        /// The provider's memory: needs no unlocking, gone at log-out.
        case session
    }

    /// The analogue of a keychain access group: items of the same group are shared.
    public var group: String
    /// Where new items go.
    public var collection: Collection
    /// How many seconds the provider may take for one call, but for a prompt that a person answers; ten times as many for all calls of an
    /// operation.
    public var deadline: Double
    /// Whether the provider may ask the person to unlock the keyring.
    ///
    /// It never does over SSH (`SSH_CONNECTION` set), where the prompt would open on somebody else's screen.
    public var mayPrompt: Bool
    /// What was answered before out of this keyring: every change takes it away.
    public var answers: AnswerCache?

    /// Makes a configuration.
    public init(
        group: String, collection: Collection = .default, deadline: Double = Self.defaultDeadline,
        mayPrompt: Bool = false, answers: AnswerCache? = nil
    ) {
        self.group = group
        self.collection = collection
        self.deadline = deadline
        self.mayPrompt = mayPrompt
        self.answers = answers
    }

    /// Makes a change to what is stored, after which nothing answered before counts.
    func changing<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        guard let answers else { return try body() }
        return try answers.changing(body)
    }

    /// Opens the way to the keyring and to its secrets, which takes longer than all that is read before they are needed.
    public static func open() { KeyringSession.open(deadline: defaultDeadline) }

    /// Runs an operation on the keyring, which has to bear being done twice.
    func withKeyring<Result>(
        _ body: (borrowing KeyringSession) throws(ServiceFailure) -> Result
    ) throws(StoreError) -> Result {
        let access = KeyringAccess(
            alias: collection.rawValue, isConfined: collection == .session, deadline: deadline, mayPrompt: mayPrompt)
        do throws(ServiceFailure) {
            return try KeyringSession.run(access, body)
        } catch {
            throw StoreError(error)
        }
    }
}
