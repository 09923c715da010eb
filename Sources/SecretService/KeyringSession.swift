internal import CGLib

/// The part of the keyring that an operation uses, and its limits.
package struct KeyringAccess: Sendable {
    /// The alias of the collection for new items.
    package var alias: String
    /// Whether items elsewhere are ignored; if so, the collection isn't created either.
    package var isConfined: Bool
    /// The number of seconds that the provider may take for one call, except for a prompt that the user answers and for
    /// one that is busy, which may take fifteen times as long.
    package var deadline: Double
    /// Whether the provider may prompt the user; it never does over SSH.
    package var mayPrompt: Bool
    /// Whether it is this process's turn to have the keyring unlocked or created by the user; if it isn't, an operation
    /// that needs that ends with a failure that `wantsTurn`.
    package var hasTurn = false

    package init(alias: String, isConfined: Bool, deadline: Double, mayPrompt: Bool) {
        self.alias = alias
        self.isConfined = isConfined
        self.deadline = deadline
        self.mayPrompt = mayPrompt
    }
}

/// A connection to the Secret Service for a single operation, on one thread and within a deadline.
package struct KeyringSession: ~Copyable {
    let provider: Provider
    let watchdog: Watchdog
    let access: KeyringAccess
    let mayPrompt: Bool
    /// The variables of the process.
    let environment: [String: String]
    /// Whether the operation runs for the second time, because something was wrong with the connection.
    let isRepeated: Bool

    static let service = "org.freedesktop.Secret.Service"
    static let servicePath = "/org/freedesktop/secrets"
    static let item = "org.freedesktop.Secret.Item"
    static let collection = "org.freedesktop.Secret.Collection"

    /// Calls a method of the provider's, or of the process with this name on the bus.
    func call(
        _ method: String, of interface: String, at path: String, owner: String? = nil, _ arguments: [NewVariant],
        giving reply: String
    ) throws(ServiceFailure) -> Variant? {
        try provider.bus.call(
            method, of: interface, at: path, owner: owner ?? provider.name, arguments, giving: reply, watchdog)
    }
}
