package import AnswerCache
package import Keyring
import Synchronization

/// A keyring in memory, for tests that need no program's.
package final class InMemoryKeyring: Keyring {
    fileprivate struct State {
        /// By their paths, which sort by age.
        var items: [String: (attributes: [String: String], label: String, secret: [UInt8], modified: UInt64)] = [:]
        var changes: UInt64 = 1_000_000
        var searches: [[String: String]] = []
        var questions = 0
    }

    fileprivate let state = Mutex(State())
    fileprivate let problem: KeyringError.Reason?

    /// Creates an empty keyring, or one that can't be used.
    package init(problem: KeyringError.Reason? = nil) { self.problem = problem }

    /// The attributes of all searches so far.
    package var searches: [[String: String]] { state.withLock(\.searches) }

    /// How often the user might have been asked to do something about the problem.
    package var questions: Int { state.withLock(\.questions) }

    /// The records in it.
    package func records(mayPrompt: Bool = false) -> RecordStore {
        RecordStore(configuration: configuration(mayPrompt: mayPrompt))
    }

    /// How stores use it.
    package func configuration(mayPrompt: Bool = false) -> KeyringConfiguration {
        KeyringConfiguration(self, group: "test", mayPrompt: mayPrompt)
    }

    package var name: String { "a keyring in memory" }
    package var locks: SingleFlight { SingleFlight(in: []) }
    package func open() {}

    package func run<Result>(
        _ configuration: KeyringConfiguration, _ body: (any KeyringSession) throws(KeyringError) -> Result
    ) throws(KeyringError) -> Result {
        try body(InMemorySession(keyring: self, mayPrompt: configuration.mayPrompt))
    }
}

private struct InMemorySession: KeyringSession {
    let keyring: InMemoryKeyring
    let mayPrompt: Bool

    private func change<Result: Sendable>(
        _ body: (inout InMemoryKeyring.State) -> Result
    ) throws(KeyringError) -> Result {
        if let problem = keyring.problem {
            if mayPrompt { keyring.state.withLock { $0.questions += 1 } }
            throw KeyringError(problem)
        }
        return keyring.state.withLock { body(&$0) }
    }

    func requireUnlocked() throws(KeyringError) { if let problem = keyring.problem { throw KeyringError(problem) } }
    func openForStoring() throws(KeyringError) { try change { _ in } }
    func openForReading() throws(KeyringError) -> Bool { try change { _ in false } }
    func unlock(_ paths: [String]) throws(KeyringError) { try change { _ in } }

    func search(_ attributes: [String: String]) throws(KeyringError) -> (unlocked: [String], locked: [String]) {
        let paths = try change { state in
            state.searches.append(attributes)
            return state.paths(attributes)
        }
        return (paths, [])
    }

    func items(at paths: [String], areLocked: Bool) throws(KeyringError) -> [KeyringItem] {
        try change { state in
            paths.compactMap { path in
                state.items[path].map { KeyringItem(path: path, isLocked: areLocked, attributes: $0.attributes) }
            }
        }
    }

    func secrets(of paths: [String]) throws(KeyringError) -> [String: [UInt8]] {
        try change { state in state.items.filter { paths.contains($0.key) }.mapValues(\.secret) }
    }

    func modified(_ item: KeyringItem) throws(KeyringError) -> UInt64 {
        try change { $0.items[item.path]?.modified ?? 0 }
    }

    func label(of item: KeyringItem) throws(KeyringError) -> String? { try change { $0.items[item.path]?.label } }

    func store(
        _ attributes: [String: String], label: String, secret: [UInt8], contentType: String
    ) throws(KeyringError) {
        try change { state in
            let known = state.paths(attributes).first
            state.put(known.flatMap { state.items[$0]?.attributes } ?? attributes, label, secret, at: known)
        }
    }

    func create(
        _ attributes: [String: String], label: String, secret: [UInt8], contentType: String, replacing: Bool
    ) throws(KeyringError) {
        try change { state in
            state.put(attributes, label, secret, at: replacing ? state.paths(attributes).first : nil)
        }
    }

    func replaceSecret(of item: KeyringItem, with secret: [UInt8], contentType: String) throws(KeyringError) {
        try change { state in
            guard let known = state.items[item.path] else { return }
            state.put(known.attributes, known.label, secret, at: item.path)
        }
    }

    func delete(_ item: KeyringItem) throws(KeyringError) { try change { $0.items[item.path] = nil } }
}

extension InMemoryKeyring.State {
    /// The items that have at least these attributes.
    func paths(_ attributes: [String: String]) -> [String] {
        items.filter { _, item in attributes.allSatisfy { item.attributes[$0.key] == $0.value } }.keys.sorted()
    }

    mutating func put(_ attributes: [String: String], _ label: String, _ secret: [UInt8], at path: String?) {
        changes += 1
        items[path ?? "/\(changes)"] = (attributes, label, secret, changes)
    }
}
