import FoundationEssentials
import Hummingbird
import JSON

/// What the user decided about a device.
enum DeviceDecision: Sendable { case pending, declined, approved(SignedIn) }

/// A client's polling interval and the time of its last poll.
struct Polling: Sendable {
    var interval: Int
    private var last: Date?

    init(interval: Int) { self.interval = interval }

    /// Records a poll; returns true if it came too early, which adds five seconds to the interval (RFC 8628, 3.5).
    mutating func poll() -> Bool {
        // Clocks and schedulers jitter, so a tenth of the interval is tolerated.
        let soonest = last?.addingTimeInterval(TimeInterval(interval) * 0.9)
        let isTooFast = soonest.map { Date.now < $0 } ?? false
        last = .now
        if isTooFast { interval += 5 }
        return isTooFast
    }
}

/// The devices of the authority or a host.
extension Ledger {
    /// Registers a device, and returns its user code: without vowels and without ambiguous characters, which avoids words
    /// and typing mistakes (RFC 8628, 6.1).
    func register(
        _ request: Request, codeBytes: Int, userCodeLength: Int, _ settings: World.Settings
    ) -> (userCode: String, device: Device) {
        let device = Device(
            deviceCode: newSecret(bytes: codeBytes), request: request,
            expires: .now.addingTimeInterval(TimeInterval(settings.deviceCodeLifetime)),
            polling: Polling(interval: settings.deviceCodeInterval))
        let letters = Array("BCDFGHJKLMNPQRSTVWXZ23456789")
        var generator = SystemRandomNumberGenerator()
        let userCode = String((0..<userCodeLength).compactMap { _ in letters.randomElement(using: &generator) })
        with { $0.devices[userCode] = device }
        return (userCode, device)
    }

    /// Records a poll of the token endpoint; nil if the client has no such device.
    func poll(_ deviceCode: String, by clientID: String) -> (device: Device, isTooFast: Bool)? {
        with { state in
            guard
                let (userCode, found) = state.devices.first(where: {
                    $0.value.deviceCode == deviceCode && $0.value.request.clientID == clientID
                })
            else { return nil }
            var device = found
            let isTooFast = device.polling.poll()
            state.devices[userCode] = device
            // The code can be used once, whatever the result.
            if case .approved = device.decision { state.devices[userCode] = nil }
            return (device, isTooFast)
        }
    }

    /// Begins the approval of the device whose user code was typed; nil if none waits with this one.
    func approval(of typed: String) -> Interaction? {
        let code = typed.uppercased().filter { $0.isLetter || $0.isNumber }
        guard let device = with({ $0.devices[code] }), device.expires > .now, case .pending = device.decision else {
            return nil
        }
        return Interaction(request: device.request, userCode: code)
    }

    /// Whether an interaction is about a device that exists no longer, because it has its tokens.
    func isTooLate(_ interaction: Interaction) -> Bool {
        guard let userCode = interaction.userCode else { return false }
        return with { $0.devices[userCode] == nil }
    }

    /// Records the user's decision about the interaction's device.
    func decide(_ decision: DeviceDecision, in interaction: Interaction) {
        guard let userCode = interaction.userCode else { return }
        with { $0.devices[userCode]?.decision = decision }
    }
}

extension World {
    /// Handles the device authorization endpoint.
    func deviceCode(_ visit: Visit, at authority: AuthorityPath) -> Response {
        do throws(OAuthErrorResponse) {
            let client = try client(of: visit.form, at: authority)
            guard let scope = visit.form["scope"] else { throw .missing("scope") }
            if client.deviceCode == false {
                throw OAuthErrorResponse(
                    "invalid_grant", 53003,
                    "Access has been blocked by Conditional Access policies. The access policy does not allow "
                        + "token issuance.", suberror: "message_only")
            }
            let scopes = try ScopeRequest(scope, client: client, realm: authority.realm, in: directory)
            // The claims must be right, but nothing comes of them here.
            _ = try RequestedClaims(visit.form["claims"])
            let request = SignInRequest(authority: authority, client: client, scopes: scopes)
            return describe(ledger.register(request, codeBytes: 48, userCodeLength: 9, settings))
        } catch {
            return error.response(to: visit)
        }
    }

    private func describe(_ pending: (userCode: String, device: Ledger<SignInRequest>.Device)) -> Response {
        let page = "\(authority)/devicelogin"
        return .json([
            "user_code": .string(pending.userCode), "device_code": .string(pending.device.deviceCode),
            "verification_uri": .string(page), "expires_in": .integer(Int64(settings.deviceCodeLifetime)),
            "interval": .integer(Int64(pending.device.polling.interval)),
            "message": .string(
                "To sign in, use a web browser to open the page \(page) and enter the code \(pending.userCode) to "
                    + "authenticate."),
        ])
    }

    /// Handles one poll of the token endpoint.
    func redeemDeviceCode(
        _ visit: Visit, _ client: Client, _ authority: AuthorityPath
    ) throws(OAuthErrorResponse) -> Issue {
        guard let text = visit.form["device_code"] ?? visit.form["code"] else { throw .missing("device_code") }
        guard let (device, isTooFast) = ledger.poll(text, by: client.id) else {
            throw OAuthErrorResponse("bad_verification_code", 70018, "Invalid verification code: it is not known here.")
        }
        guard device.expires > .now else {
            throw OAuthErrorResponse("expired_token", 70020, "The device code has expired.")
        }
        switch device.decision {
        case .declined:
            throw OAuthErrorResponse("authorization_declined", 70017, "The end user denied the authorization request.")
        case .pending where isTooFast:
            throw OAuthErrorResponse("slow_down", 70016, "The client polls faster than the interval allows.")
        case .pending:
            throw OAuthErrorResponse(
                "authorization_pending", 70016,
                "OAuth 2.0 device flow error. Authorization is pending. Continue polling.")
        case .approved(let signedIn):
            return try issue(Grant(request: device.request, signedIn: signedIn), visit, client, authority)
        }
    }
}

/// The page where a user enters a device's code, and the steps after it.
extension World {
    func deviceAuth(_ visit: Visit) -> Response {
        if let id = visit.form["ctx"] { return proceedDevice(visit, interaction: id) }
        guard visit.method == .post, let typed = visit.form["otc"] else {
            return .page(
                Pages.deviceCode(action: visit.path, code: visit.query["otc"] ?? visit.query["user_code"] ?? ""))
        }
        guard var interaction = ledger.approval(of: typed) else {
            return .page(Pages.deviceCode(action: visit.path, isWrong: true))
        }
        interaction.wantsOtherAccount = eligibleAccounts(visit, interaction.request).isEmpty
        return advance(interaction, visit)
    }

    private func proceedDevice(_ visit: Visit, interaction id: String) -> Response {
        guard let interaction = ledger.with({ $0.interactions[id] }), interaction.userCode != nil,
            !ledger.isTooLate(interaction)
        else { return .page(Pages.stale, status: .badRequest) }
        guard visit.form["device"] == "decline" else { return proceed(visit, interaction: id) }
        visit.user = interaction.signedIn?.username
        ledger.decide(.declined, in: interaction)
        return .page(Pages.deviceDeclined)
    }
}
