import CredentialEngine
import OtherCaches
import TokenStore

/// What becomes of passwords that another program keeps.
struct PasswordPlan {
    struct Entry {
        let password: OtherPassword
        /// Why it isn't taken; nil if it is.
        let skipped: SkipReason?
    }

    private(set) var entries: [Entry] = []

    /// Judges passwords; one that is stored already stays as it is.
    init(_ passwords: [OtherPassword], in session: Session) throws(Failure) {
        for password in passwords {
            entries.append(Entry(password: password, skipped: try Self.objection(to: password, in: session)))
        }
    }

    private static func objection(to password: OtherPassword, in session: Session) throws(Failure) -> SkipReason? {
        guard let query = PasswordQuery(password.request) else { return .malformed }
        // If a token answers, a password is never asked for.
        if (try? session.resolve(password.request)) != nil { return .tokenAnswers }
        let stored = try session.keeping { () throws(StoreError) in
            try session.passwords.get(query, now: Int(session.context.now))
        }
        guard let stored else { return nil }
        return stored.proof == password.stored.proof ? .stored : .newerStored
    }

    func store(in session: Session) throws(Failure) {
        for entry in entries where entry.skipped == nil {
            let password = entry.password
            guard let query = PasswordQuery(password.request) else { continue }
            try session.keeping { () throws(StoreError) in try session.passwords.store(password.stored, for: query) }
        }
    }
}
