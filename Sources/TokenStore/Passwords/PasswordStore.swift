public import Logging

/// git's passwords in the Secret Service, in the schema that git-credential-libsecret uses.
///
/// What that helper stored is found, replaced and erased here, and the other way round; also what Debian 12's build of
/// it stored under GNOME's old network schema. Matching is exact where that helper's is not: a path is part of the key,
/// and absent only equals absent.
public struct PasswordStore: Sendable {
    /// Where and how passwords are kept; the group counts for authorizations only.
    public let configuration: KeyringConfiguration
    let logger: Logger

    /// Makes a store; nothing is contacted yet.
    public init(configuration: KeyringConfiguration, logger: Logger = Logger(label: "lanyard.keyring")) {
        self.configuration = configuration
        self.logger = logger
    }

    /// Finds what was stored for the query; of several the one stored last.
    ///
    /// - Parameters:
    ///   - query: whose; its `password` and `credential` do not count.
    ///   - now: seconds since 1970; what expired before is not found.
    public func get(_ query: PasswordQuery, now: Int) throws(StoreError) -> StoredPassword? { throw StoreError(.broken) }

    /// Stores a password or an authorization, in place of the one the same user has for the same URL.
    public func store(_ password: StoredPassword, for query: PasswordQuery) throws(StoreError) {
        throw StoreError(.broken)
    }

    /// Erases everything that matches, and tells how many items that were.
    ///
    /// A query with a password erases only passwords equal to it, one with a credential only equal authorizations.
    public func erase(_ query: PasswordQuery) throws(StoreError) -> Int { throw StoreError(.broken) }
}
