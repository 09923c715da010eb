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
            let request = HostRequest(
                client: client, scopes: try scopes(visit.form["scope"]), resources: try resources(of: visit.form))
            let (code, device) = host.ledger.register(request, codeBytes: 30, userCodeLength: 8, world.settings)
            return describe(device, userCode: "\(code.prefix(4))-\(code.suffix(4))", visit)
        } catch {
            return answer(error, visit)
        }
    }

    private func describe(_ device: Ledger<HostRequest>.Device, userCode: String, _ visit: Visit) -> Response {
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
        guard let (device, isTooFast) = host.ledger.poll(text, by: client.id) else { throw .badDeviceCode }
        guard device.expires > .now else { throw .expiredDeviceCode }
        switch device.decision {
        case .declined: throw .denied
        case .pending: throw isTooFast ? .slowDown(device.polling.interval) : .pending
        case .approved(let signedIn):
            return Issue(grant: Grant(request: device.request, signedIn: signedIn), scopes: device.request.scopes)
        }
    }

    /// Returns the page where a user enters a device's code, or the steps after it.
    func devicePage(_ visit: Visit) -> Response {
        if let id = visit.form["ctx"] { return proceed(visit, interaction: id) }
        guard visit.method == .post, let typed = visit.form["otc"] else {
            return .page(Pages.deviceCode(action: visit.path, code: visit.query["user_code"] ?? ""))
        }
        guard let interaction = host.ledger.approval(of: typed) else {
            return .page(Pages.deviceCode(action: visit.path, isWrong: true))
        }
        return advance(interaction, visit)
    }
}
