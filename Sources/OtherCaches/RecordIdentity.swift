import CredentialProtocol
import JSON
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
                    Set(token.target.lowercased().split(separator: " ")).sorted().joined(separator: " "),
                ]
            case .refreshToken(let token):
                [token.homeAccountID, token.familyID ?? "", token.familyID == nil ? token.clientID : ""]
            case .idToken(let token): [token.homeAccountID, token.clientID, token.realm]
            case .account(let account): [account.homeAccountID, account.realm]
            case .appMetadata(let metadata): [metadata.clientID]
            }
        self.parts = ([record.kind.rawValue, environment] + parts).map { $0.lowercased() }
    }
}

extension CredentialRecord {
    /// The authority's host that the record is kept under.
    var environment: String {
        get {
            switch self {
            case .accessToken(let record): record.environment
            case .refreshToken(let record): record.environment
            case .idToken(let record): record.environment
            case .account(let record): record.environment
            case .appMetadata(let record): record.environment
            }
        }
        set {
            switch self {
            case .accessToken(var record):
                record.environment = newValue
                self = .accessToken(record)
            case .refreshToken(var record):
                record.environment = newValue
                self = .refreshToken(record)
            case .idToken(var record):
                record.environment = newValue
                self = .idToken(record)
            case .account(var record):
                record.environment = newValue
                self = .account(record)
            case .appMetadata(var record):
                record.environment = newValue
                self = .appMetadata(record)
            }
        }
    }

    /// How new the record is, in seconds since 1970; nil where it doesn't tell.
    var moment: Int? {
        switch self {
        case .accessToken(let token): token.cachedAt
        case .refreshToken(let token): token.lastModificationTime
        case .idToken(let token): WebToken.claims(of: token.secret.reveal())?["iat"]?.wholeNumber
        case .account, .appMetadata: nil
        }
    }

    /// Whether the other holds the same secret, or, where there is none, the same facts.
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
