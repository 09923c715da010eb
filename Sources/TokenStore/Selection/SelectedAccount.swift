import Addresses

/// An account as the selection names it: by its identifiers, lower-cased, and never by a user name.
public struct SelectedAccount: Sendable, Hashable {
    /// `uid.utid`.
    public let homeAccountID: String
    /// The authority's host.
    public let environment: String

    /// Names an account; nil where an identifier is none that a line can hold.
    public init?(homeAccountID: String, environment: String) {
        guard Self.isIdentifier(homeAccountID, atMost: 512), Self.isIdentifier(environment, atMost: 256) else {
            return nil
        }
        self.homeAccountID = homeAccountID.lowercased()
        self.environment = environment.lowercased()
    }

    /// Names the account of a record.
    public init?(_ account: AccountRecord) {
        self.init(homeAccountID: account.homeAccountID, environment: account.environment)
    }

    /// Reads a line of the file.
    init?(line: Substring) {
        let words = line.pieces(between: " ", omittingEmpty: false)
        guard words.count == 2 else { return nil }
        self.init(homeAccountID: String(words[0]), environment: String(words[1]))
    }

    /// The line of the file.
    var line: String { "\(homeAccountID) \(environment)\n" }

    private static func isIdentifier(_ text: String, atMost limit: Int) -> Bool {
        !text.isEmpty && text.utf8.count <= limit && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
