import Addresses
import Claims
import JSON
import Secrets
import TokenStore

extension CredentialRecord {
    /// What it would be stored under if its authority's host were this one: an authority's aliases keep the same credential.
    func itemKey(at host: String) -> [String: String] {
        var moved = self
        moved.environment = host
        return moved.itemKey
    }

    /// The time of the record, in seconds since 1970; nil if it has none.
    var moment: Int? {
        switch self {
        case .accessToken(let token): token.cachedAt
        case .refreshToken(let token): token.lastModificationTime
        case .idToken(let token): WebToken.claims(of: token.secret.reveal())?["iat"]?.wholeNumber
        case .exchanged(let result): result.cachedAt
        case .account, .appMetadata: nil
        }
    }

    /// Whether both have the same secret or, if there is none, the same facts.
    func says(theSameAs other: CredentialRecord) -> Bool {
        switch (self, other) {
        case (.accessToken(let one), .accessToken(let other)): one.secret == other.secret
        case (.refreshToken(let one), .refreshToken(let other)): one.secret == other.secret
        case (.idToken(let one), .idToken(let other)): one.secret == other.secret
        case (.appMetadata(let one), .appMetadata(let other)): other.familyID != nil || one.familyID == nil
        case (.account, .account): true
        default: false
        }
    }
}
