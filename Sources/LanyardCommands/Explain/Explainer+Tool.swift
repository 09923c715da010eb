import Addresses
import CredentialEngine
import PluginHost
import Rules
import Secrets
import Terminal
import TokenAcquisition
import TokenStore
import Tools

extension Explainer {
    /// What the tool asks and gets; nil unless the explanation is for one.
    var toolView: Explanation.ToolView? {
        guard let tool else { return nil }
        var view = Explanation.ToolView(
            name: tool.name, sendsPath: tool.sendsPath, takesFields: tool.request?.takesFields ?? false,
            asksNothing: tool.request == nil, asks: asks(tool), uses: uses(of: tool))
        guard tool.request != nil else {
            view.take(tool.firstTurn)
            return view
        }
        switch explanation.next.step {
        case .nothing: view.take(tool.answer(.nothing))
        case .fail: view.take(tool.answer(.refused(report)))
        default: take(&view, from: tool)
        }
        return view
    }

    private func uses(of tool: SimulatedTool) -> ToolUse? {
        guard let configurable = tool.name.configured else { return nil }
        var asked = request
        // The place that a tool asks for may not be the one for which it is configured.
        if !tool.sendsPath { asked.path = nil }
        return ToolList(session.context).use(of: configurable, at: asked)
    }

    private func asks(_ tool: SimulatedTool) -> [String] {
        guard let request = tool.request else { return [tool.silence] }
        var facts = [explanation.isByName ? "for a token by its scopes" : "for \(explanation.url)"]
        if explanation.wanted == nil, !explanation.isByName {
            facts.append(tool.takesPasswords ? request.reach.forPeople : "uses no stored password")
        }
        if tool.name.text == "uv", !typedUsername {
            facts.append("only if the index's URL has a user name, or the index has authenticate = \"always\"")
        }
        if request.isUnattended {
            let limit = tool.timeLimit.map { ", and gets an answer within \($0) seconds" } ?? ""
            facts.append("can't wait for you to sign in\(limit)")
        }
        return facts
    }

    /// The engine's refusal as it is reported to the tool.
    private var report: ReportedRefusal {
        let failure = explanation.next.failure
        let isOfKeyring = failure?.cause.isOfKeyring == true
        return ReportedRefusal(
            cause: isOfKeyring ? .keyring : .other, isFinal: !isOfKeyring || explanation.wanted != nil,
            message: failure?.message ?? "",
            remedies: explanation.next.hints.map(\.line), status: explanation.next.status.rawValue)
    }

    private func take(_ view: inout Explanation.ToolView, from tool: SimulatedTool) {
        let isExchanged = explanation.wanted?.exchange != nil
        guard let credential = credential?.masked else {
            view.gets = tool.unknown(explanation.wanted?.exchange)
            return
        }
        let answer = tool.answer(.credential(credential))
        view.take(answer, credential)
        if let contents = answer.contents(of: credential, exchanged: isExchanged) {
            view.gets = contents
        } else {
            view.isUnusable = true
        }
    }

    /// The credential that the tool would get, as far as it is known without asking anybody.
    private var credential: Credential? {
        if let remembered { return remembered }
        guard let decision = explanation.decision else {
            return (try? storedPassword()).flatMap(\.self).map(Credential.init)
        }
        let issuer = decision.match?.issuer
        if case .answer(let token) = decision.step { return Credential(token, at: issuer) }
        guard explanation.wanted?.exchange == nil else { return nil }
        var credential = Credential(.accessToken, Secret("-"), username: decision.account?.username)
        credential.basicUsername = issuer?.username
        if explanation.isByName {
            let realms = [decision.accessToken?.realm, decision.account?.realm, decision.match?.realm]
            credential.realm = realms.compactMap(\.self).first { !$0.isEmpty }
            credential.expiresOn = Credential.openEnd
        }
        credential.takesBearer = issuer?.takesBearer ?? true
        return credential
    }
}

extension Explanation.ToolView {
    /// Records what the tool reads; `credential` is what is in it, if anything.
    fileprivate mutating func take(_ answer: Turn, _ credential: Credential? = nil) {
        reads = answer.lines(of: credential)
        status = answer.status
        switch answer.complaint {
        case .other(let message, _): gets += ": \(message.displayable(limit: 500))"
        case .refusal: gets += ", and the reason on stderr"
        default: break
        }
    }
}

extension SimulatedTool {
    /// What the tool asks for instead of a credential.
    fileprivate var silence: String {
        name.text == "cargo"
            ? "for a registry without a sparse index, which lanyard leaves to the next provider"
            : "for nothing at such a URL"
    }

    /// Returns the next step if the tool asks nothing.
    func silent(_ url: String) -> Explanation.Next {
        let hints =
            name.text == "cargo"
            ? [
                Hint(
                    "if the registry's index is sparse, ask for",
                    run: "lanyard explain \(CargoConsumer.sparse + url) --for cargo")
            ] : []
        return .init(step: .nothing, text: "return nothing: it gets no request for such a URL", hints: hints)
    }

    /// Returns what the tool gets from an exchange that hasn't happened yet.
    fileprivate func unknown(_ exchange: TokenExchange?) -> String {
        guard let exchange, request?.takesFields == true, exchange.name != AWSConsumer.exchange else {
            return "a credential that lanyard will exchange the token for"
        }
        return "no credential: the exchange \(exchange.name.displayable(limit: 64)) doesn't give AWS keys"
    }
}

extension PathReach {
    /// Which stored passwords are considered.
    fileprivate var forPeople: String {
        switch self {
        case .place: "uses only a password stored for exactly this place"
        case .above: "uses the password stored for it, or for the nearest place above it"
        case .below: "uses the password stored for the host, or else the only one stored below it"
        }
    }
}
