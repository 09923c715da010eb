import Addresses

/// An account that the user chose, as stored in the selection: lower-cased identifiers, never a user name.
public struct SelectedAccount: Sendable, Hashable {
    /// The account's `uid.utid`.
    public let homeAccountID: String
    /// The authority's host.
    public let environment: String
    /// The path of the authority that the account was chosen for, such as `/contoso.com`; nil if it is for all.
    public let authority: String?

    /// Creates a choice from identifiers; nil if one of them can't be stored in a line.
    public init?(homeAccountID: String, environment: String, authority: String? = nil) {
        guard Self.isIdentifier(homeAccountID, atMost: 512), Self.isIdentifier(environment, atMost: 256) else {
            return nil
        }
        if let authority {
            guard authority.utf8.first == UInt8(ascii: "/"), Self.isIdentifier(authority, atMost: 520) else {
                return nil
            }
        }
        self.homeAccountID = homeAccountID.lowercased()
        self.environment = environment.lowercased()
        self.authority = authority?.lowercased()
    }

    /// Creates a choice of a record's account.
    public init?(_ account: AccountRecord, authority: String? = nil) {
        self.init(homeAccountID: account.homeAccountID, environment: account.environment, authority: authority)
    }

    /// Parses a line of the file.
    init?(line: Substring) {
        let words = line.pieces(between: " ", omittingEmpty: false).map(String.init)
        guard (2...3).contains(words.count) else { return nil }
        self.init(homeAccountID: words[0], environment: words[1], authority: words.count == 3 ? words[2] : nil)
    }

    /// The line for the file.
    var line: String { [homeAccountID, environment, authority].compactMap(\.self).joined(separator: " ") + "\n" }

    private static func isIdentifier(_ text: String, atMost limit: Int) -> Bool {
        !text.isEmpty && text.utf8.count <= limit && text.utf8.allSatisfy(\.isVisibleASCII)
    }
}
