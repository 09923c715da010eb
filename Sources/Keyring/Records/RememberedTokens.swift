public import AnswerCache

/// Tokens of applications and machines that have no keyring, and the results of their exchanges, encrypted like
/// answers.
///
/// They last as long as the kernel's key: until the session ends, or something in the store changes.
public struct RememberedTokens: Sendable {
    private let answers: AnswerCache

    /// Creates a store that shares the key and the folder of these answers.
    public init(_ answers: AnswerCache) { self.answers = answers }

    /// Returns the record of an owner, as it would have been read from a keyring; nil if there is none.
    ///
    /// An owner is the fields that distinguish its token from all others.
    public func record(of owner: [String], now: Int) -> CredentialRecord? {
        answers.answer(name(of: owner), now: now).flatMap(CredentialRecord.init(json:))
    }

    /// Stores a token or the result of an exchange until it expires, or for a day if its expiry isn't known.
    ///
    /// If the cache is cleared while the token is being acquired, the token is still stored: a keyring would keep it as
    /// well.
    public func keep(_ record: CredentialRecord, of owner: [String], now: Int) {
        guard let key = answers.key() else { return }
        let end = record.expiresOn ?? now + Self.longestTrust
        answers.keep(record.json, as: name(of: owner), now: now, until: end, key: key)
    }

    /// Forgets the record of an owner.
    public func forget(_ owner: [String]) { answers.remove(name(of: owner)) }

    private static let longestTrust = 86_400

    private func name(of owner: [String]) -> AnswerCacheKey {
        answers.name(fields: ["token of an identity"] + owner, files: [])
    }
}

extension CredentialRecord {
    /// The record's expiry, in seconds since 1970; nil if that isn't known.
    fileprivate var expiresOn: Int? {
        switch self {
        case .accessToken(let token): token.expiresOn
        case .exchanged(let result): result.expiresOn
        case .refreshToken, .idToken, .account, .appMetadata: nil
        }
    }
}
