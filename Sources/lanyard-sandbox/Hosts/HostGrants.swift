import FoundationEssentials

/// What a person allowed a client at a host, from which all tokens of one sign-in come.
struct HostGrant: Sendable {
    var signedIn: SignedIn
    var clientID: String
    var scopes: [String]
    var nonce: String?
    /// What the tokens are for (RFC 8707); empty for the whole host.
    var resources: [String] = []
    var cameFromDevice = false
    var lineage = newSecret(bytes: 16)
}

/// An authorization code: good once, for a short while.
struct HostCode: Sendable {
    var grant: HostGrant
    var redirectURI: String
    var challenge: String?
    var expires = Date.now.addingTimeInterval(IssuedCode.lifetime)
    var isRedeemed = false
}

/// A device that waits for a person to approve it elsewhere (RFC 8628).
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
    /// Replaced by another one: if it comes again, its whole sign-in ends (RFC 9700, 4.14.2).
    var isSpent = false
}

struct HostAccessToken: Sendable {
    var grant: HostGrant
    /// The scopes of this token, which a renewal may have narrowed.
    var scopes: [String]
    /// Nil if it doesn't expire.
    var expires: Date?

    var isAlive: Bool { expires.map { $0 > .now } ?? true }
}

/// A sign-in at a host that has not come to its end.
struct HostInteraction: Sendable {
    enum Purpose: Sendable {
        case authorization(HostRequest)
        /// Approving the device with this user code.
        case device(String)
    }

    var purpose: Purpose
    var signedIn: SignedIn?
    /// The person wants the sign-in page although an account could be picked.
    var wantsOtherAccount = false
    var hasConsented = false
    /// The person said that it was they who started the sign-in on the device.
    var isConfirmed = false

    var request: HostRequest? {
        guard case .authorization(let request) = purpose else { return nil }
        return request
    }
}

extension User {
    /// What the hosts call this person, such as `alice_contoso`.
    var login: String {
        let name = username.prefix { $0 != "@" }
        return "\(name)_\(tenant.prefix { $0 != "." })"
    }
}
