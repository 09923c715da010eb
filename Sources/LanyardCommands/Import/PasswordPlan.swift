import CredentialEngine
import OtherCaches
import Terminal
import TokenStore

/// The decision about which of another program's passwords to import.
struct PasswordPlan {
    struct Entry {
        let password: OtherPassword
        /// The reason why it is skipped; nil if it is imported.
        let skipped: SkipReason?
    }

    let entries: [Entry]

    /// Decides about each password; one that is already stored stays unchanged.
    init(_ passwords: [OtherPassword], besides records: StoredRecords, in session: Session) throws(Failure) {
        entries = try passwords.map { password throws(Failure) in
            let isToken = records.hasToken(password.stored.fingerprints)
            return Entry(
                password: password, skipped: isToken ? .tokenAnswers : try Self.objection(to: password, in: session))
        }
    }

    private static func objection(to password: OtherPassword, in session: Session) throws(Failure) -> SkipReason? {
        guard let query = PasswordQuery(password.request) else { return .malformed }
        // If a token answers, the password would never be used.
        if (try? session.resolve(password.request)) != nil { return .tokenAnswers }
        let stored = try session.keeping { () throws(StoreError) in
            try session.passwords.get(query, now: session.context.now)
        }
        guard let stored else { return nil }
        return stored.proof == password.stored.proof ? .stored : .newerStored
    }

    func store(in session: Session) throws(Failure) {
        for entry in entries where entry.skipped == nil {
            let password = entry.password
            guard let query = PasswordQuery(password.request) else { continue }
            try session.keeping { () throws(StoreError) in _ = try session.passwords.store(password.stored, for: query)
            }
        }
    }
}
