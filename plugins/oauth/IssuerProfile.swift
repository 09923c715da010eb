import Addresses
import Crypto
import FoundationEssentials
import HTTP
import OAuth

/// An account's profile: from the claims of an ID token or of the userinfo endpoint (OpenID Connect Core 1.0, 5.1), or
/// from a host's own API.
struct IssuerProfile: Decodable, Sendable, Equatable {
    /// The account's identifier at the issuer.
    var sub: String?
    private var identifiers: [String: String] = [:]
    private var names: [String: String] = [:]

    /// Creates an empty profile.
    init() {}

    /// Parses an issuer's answer; nil if it doesn't describe an account.
    init?(_ answer: HTTPAnswer, _ traits: IssuerTraits) {
        guard let headers = traits.profileHeaders else {
            guard let profile = answer.json(IssuerProfile.self) else { return nil }
            self = profile
            return
        }
        guard let id = answer.only(headers.id), !id.isEmpty else { return nil }
        identifiers[traits.subjectName] = id
        names[Key.username.rawValue] = answer.only(headers.name)?.percentDecoded
    }

    /// Decodes an object; a member of the wrong type counts as absent.
    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        for key in Key.allCases {
            let text = try? members.decode(String.self, forKey: key)
            names[key.rawValue] = text.flatMap { $0.isEmpty ? nil : $0 }
        }
        sub = names["sub"]
        identifiers = names
        // Host-specific numbers are IDs of that host; a `sub` is text.
        if let number = try? members.decode(Int64.self, forKey: .id) { identifiers["id"] = String(number) }
    }

    /// Returns the account's identifier, by the issuer's name for it.
    func subject(_ name: String) -> String? {
        identifiers[name].flatMap { $0.utf8.count <= 255 ? $0 : nil }
    }

    /// The account's name as the user knows it, preferably the host's user name rather than an address; nil if there is
    /// none.
    var username: String? {
        [Key.preferredUsername, .upn, .login, .username, .email, .nickname].lazy.compactMap { names[$0.rawValue] }.first
            ?? name
    }

    /// The display name.
    var name: String? { names["name"] ?? names["display_name"] }

    private enum Key: String, CodingKey, CaseIterable {
        case sub, id, uuid, upn, email, login, username, nickname, name
        case preferredUsername = "preferred_username"
        case displayName = "display_name"
    }
}

/// The key that an account is stored under: hashes of the issuer and subject, in MSAL's form.
struct AccountIdentifier: Sendable, Equatable {
    /// `uid.utid` in lower case: case matters in a subject, but not in an identifier.
    let text: String

    /// Creates the identifier of an issuer's subject.
    init(issuer: String, subject: String) {
        text = "\(Self.digest("\(issuer)\0\(subject)")).\(Self.digest(issuer))"
    }

    private static func digest(_ text: String) -> String {
        SHA256.hash(data: Data(text.utf8)).prefix(16).hexadecimal
    }
}
