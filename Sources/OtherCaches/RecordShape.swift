import Secrets
import TokenStore

/// The limits for imported records, which plugins receive as lines and whose parts become attributes in the keyring.
enum RecordShape {
    private static let longestSecret = 32 << 10
    private static let longestName = 512
    private static let longestTarget = 16 << 10

    /// Whether every part of the record is valid.
    static func accepts(_ record: CredentialRecord) -> Bool {
        record.isPlain && isShort(record)
    }

    private static func isShort(_ record: CredentialRecord) -> Bool {
        switch record {
        case .accessToken(let token):
            fits(token.secret.reveal(), longestSecret) && fits(token.target, longestTarget)
                && names([token.homeAccountID, token.environment, token.clientID, token.realm, token.tokenType])
        case .refreshToken(let token):
            fits(token.secret.reveal(), longestSecret) && fits(token.target, longestTarget)
                && names([token.homeAccountID, token.environment, token.clientID, token.familyID ?? ""])
        case .idToken(let token):
            fits(token.secret.reveal(), longestSecret)
                && names([token.homeAccountID, token.environment, token.clientID, token.realm])
        case .account(let account):
            names([account.homeAccountID, account.environment, account.realm, account.username])
        case .exchanged: false  // no other program has such records
        case .appMetadata(let metadata):
            names([metadata.environment, metadata.clientID, metadata.familyID ?? ""])
        }
    }

    private static func names(_ texts: [String]) -> Bool { texts.allSatisfy { fits($0, longestName) } }

    private static func fits(_ text: String, _ limit: Int) -> Bool { text.utf8.count <= limit }
}
