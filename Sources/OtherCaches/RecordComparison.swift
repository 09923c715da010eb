import Addresses
import JSON
import Secrets
import TokenStore

/// What makes two records one and the same credential, whichever alias of the authority they are kept under.
struct RecordIdentity: Hashable {
    private let parts: [String]

    /// Composes it; `environment` is the host that stands for the record's.
    init(_ record: CredentialRecord, environment: String) {
        let parts: [String] =
            switch record {
            case .accessToken(let token):
                [
                    token.homeAccountID, token.clientID, token.realm, token.tokenType,
                    Set(token.target.lowercased().pieces(between: " ")).sorted().joined(separator: " "),
                ]
            case .refreshToken(let token):
                [token.homeAccountID, token.familyID ?? "", token.familyID == nil ? token.clientID : ""]
            case .idToken(let token): [token.homeAccountID, token.clientID, token.realm]
            case .account(let account): [account.homeAccountID, account.realm]
            case .appMetadata(let metadata): [metadata.clientID]
            case .exchanged(let result):
                [result.homeAccountID, result.clientID, result.realm, result.exchange, result.audience, result.path]
            }
        self.parts = ([record.kind.rawValue, environment] + parts).map { $0.lowercased() }
    }
}

extension CredentialRecord {
    /// How new the record is, in seconds since 1970; nil if it doesn't tell.
    var moment: Int? {
        switch self {
        case .accessToken(let token): token.cachedAt
        case .refreshToken(let token): token.lastModificationTime
        case .idToken(let token): WebToken.claims(of: token.secret.reveal())?["iat"]?.wholeNumber
        case .exchanged(let result): result.cachedAt
        case .account, .appMetadata: nil
        }
    }

    /// Whether the other holds the same secret, or, if there is none, the same facts.
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
