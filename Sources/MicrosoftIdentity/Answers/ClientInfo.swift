import Addresses
import FoundationEssentials

/// Entra's `client_info`: who signed in, apart from any ID token.
package struct ClientInfo: Sendable, Equatable {
    /// The tenant of all personal accounts.
    package static let personalTenant = "9188040d-6c67-4c5b-b112-36a304b66dad"

    /// The object id in the home tenant; for B2C with `-policy` appended.
    package let uid: String?
    /// The home tenant.
    package let utid: String?

    /// Reads base64url JSON.
    ///
    /// - Throws: `ClientInfoError` if it is neither; missing or further members are no error.
    package init(_ text: String) throws(ClientInfoError) {
        guard text.utf8.count <= 16_384, let bytes = Base64URL.decode(text),
            let members = try? JSONDecoder().decode(Members.self, from: Data(bytes))
        else { throw ClientInfoError() }
        uid = members.uid.flatMap { $0.isEmpty ? nil : $0 }
        utid = members.utid.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// `uid.utid`, lower case, or nil if a half is missing.
    package var homeAccountID: String? {
        guard let uid, let utid else { return nil }
        return "\(uid).\(utid)".lowercased()
    }

    /// Whether the account is a personal one.
    package var isPersonal: Bool { utid?.lowercased() == Self.personalTenant }

    private struct Members: Decodable {
        var uid: String?
        var utid: String?
    }
}

/// A `client_info` that cannot be read.
package struct ClientInfoError: Error, Sendable, Equatable {}
