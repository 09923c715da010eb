import CredentialProtocol
import TokenStore

/// The bounds of what is taken over: it goes on to plugins as lines, and into the keyring's attributes.
enum RecordShape {
    private static let longestSecret = 32 << 10
    private static let longestName = 512
    private static let longestTarget = 16 << 10

    /// Whether every part is what it should be.
    static func accepts(_ record: CredentialRecord) -> Bool {
        switch record {
        case .accessToken(let token):
            isSecret(token.secret) && isTarget(token.target)
                && names([token.homeAccountID, token.environment, token.clientID, token.realm, token.tokenType])
        case .refreshToken(let token):
            isSecret(token.secret) && isTarget(token.target)
                && names([token.homeAccountID, token.environment, token.clientID, token.familyID ?? ""])
        case .idToken(let token):
            isSecret(token.secret) && names([token.homeAccountID, token.environment, token.clientID, token.realm])
        case .account(let account):
            names([account.homeAccountID, account.environment, account.realm]) && isPlain(account.username)
        case .appMetadata(let metadata):
            names([metadata.environment, metadata.clientID, metadata.familyID ?? ""])
        }
    }

    /// RFC 6749, appendix A: what tokens are made of.
    private static func isSecret(_ secret: Secret) -> Bool {
        let bytes = secret.reveal().utf8
        return bytes.count <= longestSecret && bytes.allSatisfy { (0x21...0x7E).contains($0) }
    }

    private static func names(_ texts: [String]) -> Bool {
        texts.allSatisfy { text in
            text.utf8.count <= longestName && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        }
    }

    private static func isTarget(_ text: String) -> Bool {
        text.utf8.count <= longestTarget && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    private static func isPlain(_ text: String) -> Bool {
        text.utf8.count <= longestName && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }
}
