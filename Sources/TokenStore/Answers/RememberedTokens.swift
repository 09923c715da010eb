/// Tokens of applications and machines that have no keyring, and what they were exchanged for, sealed as answers are.
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

    /// What is kept for an owner, if there is anything, as it would have been read from a keyring.
    public func record(of owner: Owner, now: Int) -> CredentialRecord? {
        answers.answer(name(of: owner), now: now).flatMap(CredentialRecord.init(json:))
    }

    /// Keeps a token, or what one was exchanged for, as long as it lives, without a known end for a day, if anything can be kept.
    ///
    /// What is cleared while it is on its way doesn't count: it would be in a keyring as well, if there were one.
    public func keep(_ record: CredentialRecord, of owner: Owner, now: Int) {
        guard let key = answers.key() else { return }
        let end = record.expiresOn ?? now + Self.longestTrust
        answers.keep(record.json, as: name(of: owner), now: now, until: end, key: key)
    }

    /// Forgets what is kept for an owner.
    public func forget(_ owner: Owner) { answers.remove(name(of: owner)) }

    private static let longestTrust = 86_400

    private func name(of owner: Owner) -> AnswerCacheKey {
        answers.name(fields: ["token of an identity"] + owner.fields, files: [])
    }
}

extension CredentialRecord {
    /// When what the record holds ends, in seconds since 1970, as far as that is known.
    fileprivate var expiresOn: Int? {
        switch self {
        case .accessToken(let token): token.expiresOn
        case .exchanged(let result): result.expiresOn
        case .refreshToken, .idToken, .account, .appMetadata: nil
        }
    }
}
