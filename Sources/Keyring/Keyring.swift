public import AnswerCache

/// Where secrets are kept: items, each with attributes that anybody may see, a label and a secret.
///
/// A process makes one, and all of its stores share it.
public protocol Keyring: Sendable {
    /// What messages call it.
    var name: String { get }

    /// The locks between the processes that use it.
    var locks: SingleFlight { get }

    /// Starts opening it early, because that takes longer than everything that is read before it is needed.
    func open()

    /// Runs an operation on the part of it that a configuration names, within the deadline.
    ///
    /// The operation must be safe to run twice.
    func run<Result>(
        _ configuration: KeyringConfiguration, _ body: (any KeyringSession) throws(KeyringError) -> Result
    ) throws(KeyringError) -> Result
}

/// What can be done with a keyring during one operation, on one thread.
public protocol KeyringSession {
    /// Checks that items can be read and stored, without asking the user.
    ///
    /// - Throws: `locked` or `noDefaultCollection` if they can't.
    func requireUnlocked() throws(KeyringError)

    /// Prepares for storing items: unlocks the keyring or creates it if the user may be asked.
    func openForStoring() throws(KeyringError)

    /// Ensures that an empty search means that nothing is stored; true if the search has to be repeated.
    func openForReading() throws(KeyringError) -> Bool

    /// Unlocks items; if that takes the user, asks them once.
    ///
    /// - Throws: `locked` if the user may not be asked, `denied` if they declined.
    func unlock(_ paths: [String]) throws(KeyringError)

    /// Finds the items that have at least these attributes, in any schema unless the attributes name one: the paths of
    /// those that can be read, and of those that must be unlocked first.
    ///
    /// This never unlocks anything. A locked keyring may hide what it has.
    func search(_ attributes: [String: String]) throws(KeyringError) -> (unlocked: [String], locked: [String])

    /// Reads the attributes of items, leaving out items that no longer exist.
    func items(at paths: [String], areLocked: Bool) throws(KeyringError) -> [KeyringItem]

    /// Reads the secrets of unlocked items at once, leaving out those that no longer exist or can't be read.
    ///
    /// - Throws: `broken` if there are items but none of them can be read.
    func secrets(of paths: [String]) throws(KeyringError) -> [String: [UInt8]]

    /// Returns when an item was last changed, in seconds since 1970; 0 if it no longer exists.
    func modified(_ item: KeyringItem) throws(KeyringError) -> UInt64

    /// Returns the label that users see; nil if the item no longer exists.
    func label(of item: KeyringItem) throws(KeyringError) -> String?

    /// Replaces the secret of the item that has at least these attributes, and keeps all that it has; creates one if
    /// there is none.
    ///
    /// The attributes include the schema, and the keyring has been opened for storing.
    func store(
        _ attributes: [String: String], label: String, secret: [UInt8], contentType: String
    ) throws(KeyringError)

    /// Creates an item; if `replacing`, an item with *at least* its attributes becomes this one instead.
    ///
    /// The attributes include the schema, and the keyring has been opened for storing.
    func create(
        _ attributes: [String: String], label: String, secret: [UInt8], contentType: String, replacing: Bool
    ) throws(KeyringError)

    /// Replaces an item's secret.
    func replaceSecret(of item: KeyringItem, with secret: [UInt8], contentType: String) throws(KeyringError)

    /// Deletes an item; it isn't an error if it no longer exists.
    func delete(_ item: KeyringItem) throws(KeyringError)
}

extension KeyringSession {
    /// Finds items to read, unlocking locked ones if the user may be asked.
    ///
    /// - Parameters:
    ///   - attributes: The attributes to search for.
    ///   - needsSecrets: Whether to load the secrets of the matching items.
    ///   - matches: Whether a readable item matches; it isn't called for locked items whose attributes may be hidden.
    ///     Locked items are included in the result if others could be read.
    /// - Returns: The matching items, and locked ones that may match.
    /// - Throws: `locked` if it can't be known which items are stored.
    func readableItems(
        of attributes: [String: String], needsSecrets: Bool, where matches: (KeyringItem) -> Bool
    ) throws(KeyringError) -> [KeyringItem] {
        var items = try found(attributes)
        if !items.contains(where: { !$0.isLocked && matches($0) }) {
            let locked = items.filter { $0.isLocked && $0.isPossible(matches) }
            if !locked.isEmpty {
                try unlock(locked.map(\.path))
                items = try found(attributes)
            } else if try openForReading() {
                items = try found(attributes)
            }
        }
        items = items.filter { $0.isLocked ? $0.isPossible(matches) : matches($0) }
        guard needsSecrets else { return items }
        let secrets = try secrets(of: items.filter { !$0.isLocked }.map(\.path))
        for index in items.indices { items[index].secret = secrets[items[index].path] }
        return items
    }

    /// Finds items to delete, none of which is locked.
    func deletableItems(
        of attributes: [String: String], where matches: (KeyringItem) -> Bool
    ) throws(KeyringError) -> [KeyringItem] {
        var items = try readableItems(of: attributes, needsSecrets: false, where: matches)
        let locked = items.filter(\.isLocked)
        if !locked.isEmpty {
            try unlock(locked.map(\.path))
            items = try found(attributes).filter(matches)
        }
        return items
    }

    private func found(_ attributes: [String: String]) throws(KeyringError) -> [KeyringItem] {
        let paths = try search(attributes)
        return try items(at: paths.unlocked, areLocked: false) + items(at: paths.locked, areLocked: true)
    }
}

/// One item in the state in which a search found it.
public struct KeyringItem: Sendable {
    /// What the keyring knows the item by; a higher number at its end belongs to a newer item.
    public let path: String
    /// Whether the item must be unlocked before its secret can be read.
    public let isLocked: Bool
    /// The item's attributes, including `xdg:schema`; empty if they are hidden.
    public let attributes: [String: String]
    /// The secret; nil if it wasn't requested or couldn't be loaded.
    var secret: [UInt8]?

    /// Creates an item as a keyring found it.
    public init(path: String, isLocked: Bool, attributes: [String: String]) {
        self.path = path
        self.isLocked = isLocked
        self.attributes = attributes
    }

    /// The item's schema; nil if the keyring doesn't report it.
    var schema: String? { attributes["xdg:schema"] }

    /// Whether a locked item may match: its attributes match, or are hidden because its keyring was never unlocked.
    func isPossible(_ matches: (KeyringItem) -> Bool) -> Bool {
        schema == nil || matches(self)
    }
}

/// The part of a keyring that stores use, and its limits.
public struct KeyringConfiguration: Sendable {
    /// The default number of seconds that the keyring may take for one call.
    public static let defaultDeadline = 2.0

    /// Where in the keyring items are.
    public enum Collection: String, Sendable {
        /// The user's default keyring, on disk.
        case `default`
        /// Memory, which needs no unlocking and is lost at log-out; items elsewhere are ignored.
        case session
    }

    /// The keyring.
    public var keyring: any Keyring
    /// The group of the items, like a keychain access group: items in the same group are shared.
    public var group: String
    /// The collection of new items.
    public var collection: Collection
    /// The number of seconds that the keyring may take for one call, except for a prompt that the user answers and while
    /// it is busy, when it may take fifteen times as long.
    public var deadline: Double
    /// Whether the user may be asked to unlock the keyring.
    ///
    /// They never are over SSH (`SSH_CONNECTION` is set), where the prompt would open on somebody else's screen.
    public var mayPrompt: Bool
    /// The cache of answers based on this keyring, which every change clears; nil if there is none.
    public var answers: AnswerCache?

    /// Creates a configuration.
    public init(
        _ keyring: any Keyring, group: String, collection: Collection = .default,
        deadline: Double = Self.defaultDeadline, mayPrompt: Bool = false, answers: AnswerCache? = nil
    ) {
        self.keyring = keyring
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
        _ body: (any KeyringSession) throws(KeyringError) -> Result
    ) throws(KeyringError) -> Result {
        try keyring.run(self, body)
    }
}
