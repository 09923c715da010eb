import FoundationEssentials

/// A user's grant to a client at a host, on which all tokens of one sign-in are based.
struct HostGrant: Sendable {
    var signedIn: SignedIn
    var clientID: String
    var scopes: [String]
    var nonce: String?
    /// The resources of the tokens (RFC 8707); empty for the whole host.
    var resources: [String] = []
    var cameFromDevice = false
    var lineage = newSecret(bytes: 16)
}

/// An authorization code: it can be used once, for a short time.
struct HostCode: Sendable {
    var grant: HostGrant
    var redirectURI: String
    var challenge: String?
    var expires = Date.now.addingTimeInterval(IssuedCode.lifetime)
    var isRedeemed = false
}

/// A device that waits for a user's approval on another device (RFC 8628).
struct HostDevice: Sendable {
    let deviceCode: String
    let clientID: String
    let scopes: [String]
    let resources: [String]
    let expires: Date
    var polling: Polling
    var decision = DeviceDecision.pending
}

struct HostRefreshToken: Sendable {
    var grant: HostGrant
    /// Whether the token has been replaced by another one; using it again revokes the whole sign-in (RFC 9700, 4.14.2).
    var isSpent = false
}

struct HostAccessToken: Sendable {
    var grant: HostGrant
    /// The scopes of this token, which a renewal may have narrowed.
    var scopes: [String]
    /// When the token expires; nil if it doesn't.
    var expires: Date?

    var isAlive: Bool { expires.map { $0 > .now } ?? true }
}

/// A sign-in in progress at a host.
struct HostInteraction: Sendable {
    enum Purpose: Sendable {
        case authorization(HostRequest)
        /// The approval of the device with this user code.
        case device(String)
    }

    var purpose: Purpose
    var signedIn: SignedIn?
    /// Whether the user requested the sign-in page instead of picking an account.
    var wantsOtherAccount = false
    var hasConsented = false
    /// Whether the user confirmed having started the sign-in on the device.
    var isConfirmed = false

    var request: HostRequest? {
        guard case .authorization(let request) = purpose else { return nil }
        return request
    }
}

extension User {
    /// The user's name at the hosts, such as `alice_contoso`.
    var login: String {
        let name = username.prefix { $0 != "@" }
        return "\(name)_\(tenant.prefix { $0 != "." })"
    }
}
