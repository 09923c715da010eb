internal import Secrets

extension CredentialRecord {
    /// Whether its texts contain only the allowed characters, because consumers and plugins receive them as lines.
    ///
    /// Tokens and names are visible ASCII (RFC 6749, appendix A), scopes may also contain spaces, and display names and
    /// user names must not contain control characters.
    package var isPlain: Bool {
        switch self {
        case .accessToken(let token):
            Self.isVisible(token.secret.reveal()) && Self.isSpaced(token.target)
                && [token.homeAccountID, token.environment, token.clientID, token.realm, token.tokenType]
                    .allSatisfy(Self.isVisible)
        case .refreshToken(let token):
            Self.isVisible(token.secret.reveal()) && Self.isSpaced(token.target)
                && [token.homeAccountID, token.environment, token.clientID, token.familyID ?? ""]
                    .allSatisfy(Self.isVisible)
        case .idToken(let token):
            [token.secret.reveal(), token.homeAccountID, token.environment, token.clientID, token.realm]
                .allSatisfy(Self.isVisible)
        case .account(let account):
            ([account.homeAccountID, account.environment, account.realm, account.policy ?? "", account.authority ?? ""]
                + account.homeRealms).allSatisfy(Self.isVisible)
                && [account.username, account.name ?? "", account.kind ?? ""].allSatisfy(Self.isDisplayName)
        case .exchanged(let result):
            // The secret may be any text on one line, but the record must name a place.
            Self.isSpaced(result.target) && Self.isSpaced(result.path)
                && [result.homeAccountID, result.environment, result.clientID, result.realm, result.exchange]
                    .allSatisfy(Self.isVisible)
                && Self.isVisible(result.audience)
                && ([result.username, result.secret].compactMap(\.self) + result.fields.values)
                    .allSatisfy { Self.isDisplayName($0.reveal()) }
                && result.fields.keys.allSatisfy(Self.isVisible)
        case .appMetadata(let metadata):
            [metadata.environment, metadata.clientID, metadata.familyID ?? ""].allSatisfy(Self.isVisible)
        }
    }

    private static func isVisible(_ text: String) -> Bool { text.utf8.allSatisfy { (0x21...0x7E).contains($0) } }

    private static func isSpaced(_ text: String) -> Bool { text.utf8.allSatisfy { (0x20...0x7E).contains($0) } }

    private static func isDisplayName(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }
}
