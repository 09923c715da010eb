import Hummingbird

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
