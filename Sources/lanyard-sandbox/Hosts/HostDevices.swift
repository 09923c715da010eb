import FoundationEssentials
import Hummingbird
import JSON

/// Sign-ins on a device without a browser (RFC 8628), at a host.
extension HostSite {
    func deviceCode(_ visit: Visit) -> Response {
        do throws(HostFailure) {
            let client = try client(of: visit)
            guard world.settings.deviceCodeLifetime > 0, client.grants.contains(HostClient.deviceGrant) else {
                throw .forbiddenGrantType
            }
            let device = HostDevice(
                deviceCode: newSecret(bytes: 30), clientID: client.id, scopes: try scopes(visit.form["scope"]),
                resources: try resources(of: visit.form),
                expires: .now.addingTimeInterval(TimeInterval(world.settings.deviceCodeLifetime)),
                polling: Polling(interval: world.settings.deviceCodeInterval))
            let userCode = newUserCode(length: 8)
            host.with { $0.devices[userCode] = device }
            return describe(device, userCode: "\(userCode.prefix(4))-\(userCode.suffix(4))", visit)
        } catch {
            return answer(error, visit)
        }
    }

    private func describe(_ device: HostDevice, userCode: String, _ visit: Visit) -> Response {
        var answer: [String: JSONValue] = [
            "device_code": .string(device.deviceCode), "user_code": .string(userCode),
            "expires_in": .integer(Int64(world.settings.deviceCodeLifetime)),
            "interval": .integer(Int64(device.polling.interval)),
        ]
        switch style {
        case .issuer, .gitea:
            answer["verification_uri"] = .string(host.url + "/oauth/device")
            answer["verification_uri_complete"] = .string(host.url + "/oauth/device?user_code=\(userCode)")
            return .json(.object(answer))
        case .forge:
            answer["verification_uri"] = .string(host.url + "/login/device")
            return gitHubAnswer(answer, visit)
        }
    }

    /// Handles one poll of the token endpoint.
    func redeemDeviceCode(_ visit: Visit, _ client: HostClient) throws(HostFailure) -> Issue {
        guard let text = visit.form["device_code"] else { throw .missing("device_code") }
        guard let (device, isTooFast) = poll(text, client) else { throw .badDeviceCode }
        guard device.expires > .now else { throw .expiredDeviceCode }
        switch device.decision {
        case .declined: throw .denied
        case .pending: throw isTooFast ? .slowDown(device.polling.interval) : .pending
        case .approved(let signedIn):
            let grant = HostGrant(
                signedIn: signedIn, clientID: client.id, scopes: device.scopes, resources: device.resources,
                cameFromDevice: true)
            return Issue(grant: grant, client: client, scopes: device.scopes)
        }
    }

    private func poll(_ deviceCode: String, _ client: HostClient) -> (HostDevice, isTooFast: Bool)? {
        host.with { state in
            guard
                let userCode = state.devices.first(where: {
                    $0.value.deviceCode == deviceCode && $0.value.clientID == client.id
                })?.key, let isTooFast = state.devices[userCode]?.polling.note(), let device = state.devices[userCode]
            else { return nil }
            // The code can be used once, whatever the result.
            if case .approved = device.decision { state.devices[userCode] = nil }
            return (device, isTooFast)
        }
    }

    /// Returns the page where a user enters a device's code, or the steps after it.
    func devicePage(_ visit: Visit) -> Response {
        if let id = visit.form["ctx"] { return proceed(visit, interaction: id) }
        guard visit.method == .post, let typed = visit.form["otc"] else {
            return .page(Pages.deviceCode(action: visit.path, code: visit.query["user_code"] ?? ""))
        }
        let code = typed.uppercased().filter { $0.isLetter || $0.isNumber }
        let device = host.with { $0.devices[code] }
        guard let device, device.expires > .now, case .pending = device.decision else {
            return .page(
                Pages.deviceCode(
                    action: visit.path, code: "", message: "That code didn't work. Check it and try again."))
        }
        return advance(HostInteraction(purpose: .device(code)), visit)
    }
}
