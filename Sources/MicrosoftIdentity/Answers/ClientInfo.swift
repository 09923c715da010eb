import Addresses
import FoundationEssentials

/// Entra's `client_info`, which identifies the account independently of any ID token.
package struct ClientInfo: Sendable, Equatable {
    /// The tenant of all personal accounts.
    package static let personalTenant = "9188040d-6c67-4c5b-b112-36a304b66dad"

    /// The object ID in the home tenant; for B2C with `-policy` appended.
    package let uid: String?
    /// The home tenant's ID.
    package let utid: String?

    /// Parses base64url-encoded JSON; nil if it isn't that, while missing or additional members are no error.
    package init?(_ text: String) {
        guard text.utf8.count <= 16_384, let bytes = Base64URL.decode(text),
            let members = try? JSONDecoder().decode(Members.self, from: Data(bytes))
        else { return nil }
        uid = members.uid.flatMap { $0.isEmpty ? nil : $0 }
        utid = members.utid.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// `uid.utid` in lower case; nil if either half is missing.
    package var homeAccountID: String? {
        guard let uid, let utid else { return nil }
        return "\(uid).\(utid)".lowercased()
    }

    private struct Members: Decodable {
        var uid: String?
        var utid: String?
    }
}
