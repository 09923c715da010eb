/// Tokens of applications and machines that have no keyring, sealed as answers are.
///
/// They last as long as the kernel's key does: until the session ends, or something that is stored changes.
public struct RememberedTokens: Sendable {
    /// Whose token it is, and what it is for.
    public struct Owner: Sendable, Equatable {
        /// All that tells it from others.
        public let fields: [String]

        /// Names what tells a token from others.
        public init(fields: [String]) { self.fields = fields }
    }

    private let answers: AnswerCache

    /// Tokens beside these answers.
    public init(_ answers: AnswerCache) { self.answers = answers }

    /// The token that is kept for an owner, if there is one, as it would have been read from a keyring.
    public func records(of owner: Owner, now: Int) -> StoredRecords {
        var records = StoredRecords()
        if let record = answers.answer(name(of: owner), now: now).flatMap(CredentialRecord.init(json:)) {
            records.append(record)
        }
        return records
    }

    /// Keeps a token for as long as it lives, one without a known end for a day, if anything can be kept.
    ///
    /// What is cleared while the token is on its way doesn't count: it would be in a keyring as well, if there were one.
    public func keep(_ token: AccessTokenRecord, of owner: Owner, now: Int) {
        guard let key = answers.key() else { return }
        let record = CredentialRecord.accessToken(token)
        answers.keep(
            record.json, as: name(of: owner), now: now, until: token.expiresOn ?? now + Self.longestTrust, key: key)
    }

    private static let longestTrust = 86_400

    private func name(of owner: Owner) -> AnswerCacheKey {
        answers.name(fields: ["token of an identity"] + owner.fields, files: [])
    }
}
