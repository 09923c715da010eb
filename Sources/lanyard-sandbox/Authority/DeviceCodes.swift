import FoundationEssentials
import Hummingbird
import JSON

/// What the person decided about a device.
enum DeviceDecision: Sendable { case pending, declined, approved(SignedIn) }

/// A device that waits for a user's approval on another device (RFC 8628).
struct DeviceGrant: Sendable {
    let deviceCode: String
    let clientID: String
    let authority: AuthorityPath
    let scopes: ScopeRequest
    let claims: ClaimsRequest
    let expires: Date
    var polling: Polling
    var decision = DeviceDecision.pending
}

/// A client's polling interval and the time of its last poll.
struct Polling: Sendable {
    var interval: Int
    private var last: Date?

    init(interval: Int) { self.interval = interval }

    /// Records a poll; returns true if it came too early, which adds five seconds to the interval (RFC 8628, 3.5).
    mutating func note() -> Bool {
        // Clocks and schedulers jitter, so a tenth of the interval is tolerated.
        let soonest = last?.addingTimeInterval(TimeInterval(interval) * 0.9)
        let isTooFast = soonest.map { Date.now < $0 } ?? false
        last = .now
        if isTooFast { interval += 5 }
        return isTooFast
    }
}

/// Returns a user code without vowels and without ambiguous characters, which avoids words and typing mistakes (RFC
/// 8628, 6.1).
func newUserCode(length: Int) -> String {
    let letters = Array("BCDFGHJKLMNPQRSTVWXZ23456789")
    var generator = SystemRandomNumberGenerator()
    return String((0..<length).compactMap { _ in letters.randomElement(using: &generator) })
}

extension World {
    /// Handles the device authorization endpoint.
    func deviceCode(_ visit: Visit, at authority: AuthorityPath) -> Response {
        do throws(OAuthFailure) {
            let client = try client(of: visit, at: authority)
            guard let scope = visit.form["scope"] else { throw .missing("scope") }
            if client.deviceCode == false {
                throw OAuthFailure(
                    "invalid_grant", 53003,
                    "Access has been blocked by Conditional Access policies. The access policy does not allow "
                        + "token issuance.", suberror: "message_only")
            }
            let grant = DeviceGrant(
                deviceCode: newSecret(bytes: 48), clientID: client.id, authority: authority,
                scopes: try ScopeRequest(scope, client: client, realm: authority.realm, in: directory),
                claims: try ClaimsRequest(visit.form["claims"]),
                expires: .now.addingTimeInterval(TimeInterval(settings.deviceCodeLifetime)),
                polling: Polling(interval: settings.deviceCodeInterval))
            return describe(grant, userCode: register(grant))
        } catch {
            return error.response(to: visit)
        }
    }

    private func register(_ grant: DeviceGrant) -> String {
        let userCode = newUserCode(length: 9)
        ledger.with { $0.devices[userCode] = grant }
        return userCode
    }

    private func describe(_ grant: DeviceGrant, userCode: String) -> Response {
        let page = "\(authority)/devicelogin"
        return .json([
            "user_code": .string(userCode), "device_code": .string(grant.deviceCode), "verification_uri": .string(page),
            "expires_in": .integer(Int64(settings.deviceCodeLifetime)),
            "interval": .integer(Int64(grant.polling.interval)),
            "message": .string(
                "To sign in, use a web browser to open the page \(page) and enter the code \(userCode) to authenticate."
            ),
        ])
    }

    /// Handles one poll of the token endpoint.
    func redeemDeviceCode(
        _ visit: Visit, _ client: Client, _ authority: AuthorityPath
    ) throws(OAuthFailure) -> Issue {
        guard let text = visit.form["device_code"] ?? visit.form["code"] else { throw .missing("device_code") }
        guard let device = poll(text, client) else {
            throw OAuthFailure("bad_verification_code", 70018, "Invalid verification code: it is not known here.")
        }
        guard device.grant.expires > .now else {
            throw OAuthFailure("expired_token", 70020, "The device code has expired.")
        }
        switch device.grant.decision {
        case .declined:
            throw OAuthFailure("authorization_declined", 70017, "The end user denied the authorization request.")
        case .pending where device.isTooFast:
            throw OAuthFailure("slow_down", 70016, "The client polls faster than the interval allows.")
        case .pending:
            throw OAuthFailure(
                "authorization_pending", 70016,
                "OAuth 2.0 device flow error. Authorization is pending. Continue polling.")
        case .approved(let signedIn):
            let grant = Grant(
                signedIn: signedIn, clientID: client.id, realm: device.grant.authority.realm,
                scopes: device.grant.scopes, claims: device.grant.claims)
            return try issue(grant, visit, client, authority)
        }
    }

    private struct Poll: Sendable {
        let grant: DeviceGrant
        let isTooFast: Bool
    }

    private func poll(_ deviceCode: String, _ client: Client) -> Poll? {
        ledger.with { state in
            guard
                let (userCode, grant) = state.devices.first(where: {
                    $0.value.deviceCode == deviceCode && $0.value.clientID == client.id
                }), let isTooFast = state.devices[userCode]?.polling.note()
            else { return nil }
            // The code can be used once, whatever the result.
            if case .approved = grant.decision { state.devices[userCode] = nil }
            return Poll(grant: grant, isTooFast: isTooFast)
        }
    }
}
