import FoundationEssentials
import Hummingbird

/// The page where a user enters a device's code, and the steps after it.
extension World {
    func deviceAuth(_ visit: Visit, at authority: AuthorityPath) -> Response {
        if let id = visit.form["ctx"] { return proceedDevice(visit, interaction: id, at: authority) }
        guard visit.method == .post, let typed = visit.form["otc"] else {
            return .page(
                Pages.deviceCode(action: visit.path, code: visit.query["otc"] ?? visit.query["user_code"] ?? ""))
        }
        let code = typed.uppercased().filter { $0.isLetter || $0.isNumber }
        let device = ledger.with { $0.devices[code] }
        guard let device, device.expires > .now, case .pending = device.decision else {
            return .page(
                Pages.deviceCode(
                    action: visit.path, code: "", message: "That code didn't work. Check it and try again."))
        }
        let realm = device.authority
        let accounts = eligibleAccounts(visit, realm: realm.realm)
        var interaction = Interaction(purpose: .device(code))
        interaction.wantsOtherAccount = accounts.isEmpty
        return advance(interaction, visit, at: realm)
    }

    private func proceedDevice(_ visit: Visit, interaction id: String, at authority: AuthorityPath) -> Response {
        guard let interaction = ledger.with({ $0.interactions[id] }), case .device(let code) = interaction.purpose,
            let device = ledger.with({ $0.devices[code] })
        else { return .page(Pages.stale, status: .badRequest) }
        switch visit.form["device"] {
        case "decline":
            decide(.declined, about: code)
            visit.user = interaction.signedIn?.username
            return .page(Pages.deviceDeclined)
        default: return proceed(visit, interaction: id, at: device.authority)
        }
    }

    /// Records the user's decision about a device.
    func decide(_ decision: DeviceDecision, about userCode: String) {
        ledger.with { $0.devices[userCode]?.decision = decision }
    }
}
