import Secrets
import TokenStore

/// The limits for imported records, which plugins receive as lines and whose parts become attributes in the keyring.
enum RecordShape {
    private static let longestSecret = 32 << 10
    private static let longestName = 512
    private static let longestTarget = 16 << 10

    /// Whether every part of the record is valid.
    static func accepts(_ record: CredentialRecord) -> Bool {
        // No other program has what a token was exchanged for.
        guard record.kind != .exchanged, record.isPlain else { return false }
        let texts = record.texts
        return texts.tokens.allSatisfy { fits($0, longestSecret) }
            && texts.targets.allSatisfy { fits($0, longestTarget) }
            && (texts.names + texts.titles).allSatisfy { fits($0, longestName) }
    }

    private static func fits(_ text: String, _ limit: Int) -> Bool { text.utf8.count <= limit }
}
