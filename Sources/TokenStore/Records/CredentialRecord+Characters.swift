import Addresses
internal import Secrets

extension CredentialRecord {
    /// Its texts, by what may stand in them: tokens, scopes and paths, names that programs compare, and names for people.
    package var texts: (tokens: [String], targets: [String], names: [String], titles: [String]) {
        let owner = [homeAccountID, environment, clientID, realm].compactMap(\.self)
        return switch self {
        case .accessToken(let token): ([token.secret.reveal()], [token.target], owner + [token.tokenType], [])
        case .refreshToken(let token): ([token.secret.reveal()], [token.target], owner + [token.familyID ?? ""], [])
        case .idToken(let token): ([token.secret.reveal()], [], owner, [])
        case .account(let account):
            (
                [], [], owner + [account.policy ?? "", account.authority ?? ""] + account.homeRealms,
                [account.username, account.name ?? "", account.kind ?? ""]
            )
        case .exchanged(let result):
            // The secret may be any text on one line, but the record must name a place.
            (
                [], [result.target, result.path], owner + [result.exchange, result.audience] + result.fields.keys,
                ([result.username, result.secret].compactMap(\.self) + result.fields.values).map { $0.reveal() }
            )
        case .appMetadata(let metadata): ([], [], owner + [metadata.familyID ?? ""], [])
        }
    }

    /// Whether its texts contain only the allowed characters, because consumers and plugins receive them as lines.
    ///
    /// Tokens and names are visible ASCII (RFC 6749, appendix A), scopes may also contain spaces, and display names and
    /// user names must not contain control characters.
    package var isPlain: Bool {
        let texts = texts
        return texts.tokens.allSatisfy(Self.isVisible) && texts.targets.allSatisfy(Self.isSpaced)
            && texts.names.allSatisfy(Self.isVisible) && texts.titles.allSatisfy(Self.isDisplayName)
    }

    private static func isVisible(_ text: String) -> Bool { text.utf8.allSatisfy(\.isVisibleASCII) }

    private static func isSpaced(_ text: String) -> Bool { text.utf8.allSatisfy { (0x20...0x7E).contains($0) } }

    private static func isDisplayName(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }
}
