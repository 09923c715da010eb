import Addresses
import Crypto
import FoundationEssentials
import OAuth

/// What is said of a person: by the claims of an ID token or of the userinfo endpoint (OpenID Connect Core 1.0, 5.1), or by a host's
/// own API.
struct IssuerProfile: Decodable, Sendable, Equatable {
    /// What identifies the person at the issuer.
    var sub: String?
    private var identifiers: [String: String] = [:]
    private var names: [String: String] = [:]

    /// What nothing is said of.
    init() {}

    /// Reads what an issuer answers; nil if it isn't about anybody.
    init?(_ answer: HTTPAnswer, _ traits: IssuerTraits) {
        guard let headers = traits.profileHeaders else {
            guard let profile = answer.json(IssuerProfile.self) else { return nil }
            self = profile
            return
        }
        guard let id = answer.header(headers.id), !id.isEmpty else { return nil }
        identifiers[traits.subjectName] = id
        names[Key.username.rawValue] = answer.header(headers.name)?.percentDecoded
    }

    /// Reads an object; a member of another type than it should have counts as absent.
    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        for key in Key.allCases {
            let text = try? members.decode(String.self, forKey: key)
            names[key.rawValue] = text.flatMap { $0.isEmpty ? nil : $0 }
        }
        sub = names["sub"]
        identifiers = names
        // A host's number is one of its own; a `sub` is text.
        if let number = try? members.decode(Int64.self, forKey: .id) { identifiers["id"] = String(number) }
    }

    /// What identifies the person, by the name that the issuer has for it.
    func subject(_ name: String) -> String? {
        identifiers[name].flatMap { $0.utf8.count <= 255 ? $0 : nil }
    }

    /// What the person calls the account, rather by the name that the host has for it than by an address; nil if it isn't said.
    var username: String? {
        [Key.preferredUsername, .upn, .login, .username, .email, .nickname].lazy.compactMap { names[$0.rawValue] }.first
            ?? name
    }

    /// The person's name for display.
    var name: String? { names["name"] ?? names["display_name"] }

    private enum Key: String, CodingKey, CaseIterable {
        case sub, id, uuid, upn, email, login, username, nickname, name
        case preferredUsername = "preferred_username"
        case displayName = "display_name"
    }
}

/// What an account is kept under: the issuer and its subject, neither of them readable, in MSAL's form.
struct AccountIdentifier: Sendable, Equatable {
    /// `uid.utid`, lower case: of a subject the case counts, of an identifier it doesn't.
    let text: String

    /// The identifier of a subject of an issuer.
    init(issuer: String, subject: String) {
        text = "\(Self.digest("\(issuer)\0\(subject)")).\(Self.digest(issuer))"
    }

    private static func digest(_ text: String) -> String {
        SHA256.hash(data: Data(text.utf8)).prefix(16).hexadecimal
    }
}
