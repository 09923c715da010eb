internal import CGLib

/// The part of the keyring that an operation uses, and its limits.
package struct KeyringAccess: Sendable {
    /// The alias of the collection for new items.
    package var alias: String
    /// Whether items elsewhere are ignored; if so, the collection isn't created either.
    package var isConfined: Bool
    /// The number of seconds that the provider may take for one call, except for a prompt that the user answers; all
    /// calls together may take ten times as long.
    package var deadline: Double
    /// Whether the provider may prompt the user; it never does over SSH.
    package var mayPrompt: Bool

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
}
