import Addresses
import ArgumentParser
import CommandKit
import CredentialEngine
import Keyring
package import Model
import PluginHost
import Secrets
import Terminal
import TokenAcquisition
package import Tools

/// The name of a tool that lanyard serves.
package struct ToolName: ExpressibleByArgument, Sendable {
    static let allValueStrings = Tool.names

    package let text: String

    init?(argument: String) {
        guard Tool.names.contains(argument) else { return nil }
        text = argument
    }

    var isGit: Bool { text == "git" }

    /// The tool whose settings this one uses, as `lanyard configure` names it.
    package var configured: ToolSetup? { ToolSetup.serving(text) }
}

/// A simulated tool: it asks for a URL as the real tool does, and gets the same answers.
struct SimulatedTool: Sendable {
    let name: ToolName
    /// The number of seconds that the tool waits; nil if it waits for a user.
    var timeLimit: Int? { type(of: tool).timeLimit }
    /// Whether the tool can send more of a URL than its host.
    var sendsPath: Bool { type(of: tool).sendsPath }
    /// Whether the tool accepts stored passwords.
    var takesPasswords: Bool { type(of: tool).takesPasswords }
    /// The tool's question to the engine; nil if it asks nothing for such a URL.
    var request: CredentialRequest? { if case .ask(.get(let request)) = firstTurn.next { request } else { nil } }
    /// The first turn, which is the last one if the tool asks nothing.
    let firstTurn: Turn
    private let tool: any ToolProtocol

    /// Makes the tool ask for a URL.
    init?(_ name: ToolName, _ url: String, in context: CommandContext) {
        guard let (tool, invocation) = Tool.trial(of: name.text, for: url, context.call([])) else { return nil }
        var asking = tool
        firstTurn = asking.begin(with: invocation)
        self.name = name
        self.tool = asking
    }

    /// Returns the turn after an event from the engine.
    func answer(_ event: ToolEvent) -> Turn {
        var tool = tool
        return tool.receive(event)
    }

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
                    run: "lanyard explain \(CargoProtocol.sparse + url) --for cargo")
            ] : []
        return .init(step: .nothing, text: "return nothing: it gets no request for such a URL", hints: hints)
    }

    /// Returns what the tool gets from an exchange that hasn't happened yet.
    fileprivate func unknown(_ exchange: TokenExchange?) -> String {
        guard let exchange, request?.takesFields == true, !AWSProtocol.givesKeys(exchange.name) else {
            return "a credential that lanyard will exchange the token for"
        }
        return "no credential: the exchange \(exchange.name.displayable(limit: 64)) doesn't give AWS keys"
    }
}

extension Credential {
    /// The replacement for secrets.
    fileprivate static let mask = "…"

    /// The expiry of a token that doesn't exist yet; no real token has it.
    static let openEnd = 253_402_300_799

    /// The credential without its secrets.
    var masked: Credential {
        var masked = self
        if !secret.isEmpty { masked.secret = Secret(Self.mask) }
        masked.fields = fields.mapValues { _ in Secret(Self.mask) }
        masked.oauthRefreshToken = oauthRefreshToken.map { _ in Secret(Self.mask) }
        return masked
    }
}

extension Turn {
    /// The exit status; nil if lanyard continues.
    package var status: Int32? { if case .end(let status) = next { status } else { nil } }

    private var text: String { String(decoding: output, as: UTF8.self) }

    /// Returns in words what the answer contains of a masked credential; nil if it contains nothing.
    package func contents(of masked: Credential, _ token: TokenRequest.Kind, exchanged: Bool) -> String? {
        let secret =
            switch masked.kind {
            case .accessToken: exchanged ? "a credential that your token was exchanged for" : "an \(token.name)"
            case .password: "a password"
            case .authorization: "a credential"
            }
        let fields = masked.fields.keys.filter(text.hasBytes).sorted()
        let end = isTold(masked.expiresOn, masked.expiry) ? ", and \(fields.isEmpty ? "its" : "their") expiry time" : ""
        if text.hasBytes(masked.authorizationHeader) { return header(masked, secret) + end }
        guard text.hasBytes(Credential.mask) else { return nil }
        guard fields.isEmpty else { return "temporary keys (\(fields.joined(separator: ", ")))\(end)" }
        let name = masked.passwordUsername
        let isNamed = !name.isEmpty && text.hasBytes(name)
        return (isNamed ? "the user name \(name.displayable(limit: 100)) and \(secret)" : secret) + end
    }

    private func header(_ masked: Credential, _ secret: String) -> String {
        let scheme = masked.authorizationHeader.cut(at: " ").map { String($0.0).displayable(limit: 60) } ?? ""
        guard scheme == "Basic" else { return "an Authorization header with \(secret) (\(scheme))" }
        let name = masked.passwordUsername.displayable(limit: 100)
        return "an Authorization header with \(secret) (Basic, user name \(name))"
    }

    private func isTold(_ end: Int?, _ date: String?) -> Bool {
        guard let end, let date else { return false }
        return text.hasBytes(String(end)) || text.hasBytes(date)
    }

    /// Returns the lines of a masked answer; a base64 header, which contains the user name, is masked as well.
    package func lines(of masked: Credential?) -> [String] {
        var text = text
        if let header = masked?.authorizationHeader, header.hasPrefix("Basic ") {
            text = text.replacing(bytes: header, with: "Basic \(Credential.mask)")
        }
        if let masked, masked.expiresOn == Credential.openEnd {
            let forms = [String(Credential.openEnd), masked.expiry, AzureCLIProtocol.localTime(Credential.openEnd)]
            for form in forms.compactMap(\.self) { text = text.replacing(bytes: form, with: Credential.mask) }
        }
        return text.pieces(between: "\n").map { String($0).displayable(limit: 1000) }
    }
}

extension Explainer {
    /// What the tool asks and gets; nil unless the explanation is for one.
    var toolView: Explanation.ToolView? {
        guard let tool else { return nil }
        var view = Explanation.ToolView(
            name: tool.name, sendsPath: tool.sendsPath, takesFields: tool.request?.takesFields ?? false,
            asksNothing: tool.request == nil, asks: asks(tool), uses: uses(of: tool))
        guard tool.request != nil else {
            view.show(tool.firstTurn)
            return view
        }
        switch explanation.next.step {
        case .nothing: view.show(tool.answer(.nothing))
        case .fail: view.show(tool.answer(.refused(report)))
        default: finish(&view, from: tool)
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
            facts.append(tool.takesPasswords ? request.reach.displayed : "uses no stored password")
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
    private var report: Refusal {
        let failure = explanation.next.failure
        let isOfKeyring = failure?.cause.isOfKeyring == true
        return Refusal(
            cause: isOfKeyring ? .keyring : .other, isFinal: !isOfKeyring || explanation.wanted != nil,
            message: failure?.message.text ?? "",
            remedies: explanation.next.hints.map(\.line), status: explanation.next.status.rawValue)
    }

    private func finish(_ view: inout Explanation.ToolView, from tool: SimulatedTool) {
        let isExchanged = explanation.wanted?.exchange != nil
        guard let credential = credential?.masked else {
            view.gets = tool.unknown(explanation.wanted?.exchange)
            return
        }
        let answer = tool.answer(.credential(credential))
        view.show(answer, credential)
        let token = explanation.wanted?.kindForPeople ?? .access
        if let contents = answer.contents(of: credential, token, exchanged: isExchanged) {
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
    fileprivate mutating func show(_ answer: Turn, _ credential: Credential? = nil) {
        reads = answer.lines(of: credential)
        status = answer.status
        switch answer.complaint {
        case .other(let message, _): gets += ": \(message)"
        case .refusal: gets += ", and the reason on stderr"
        default: break
        }
    }
}

extension PathReach {
    /// Which stored passwords are considered.
    fileprivate var displayed: String {
        switch self {
        case .place: "uses only a password stored for exactly this place"
        case .above: "uses the password stored for it, or for the nearest place above it"
        case .below: "uses the password stored for the host, or else the only one stored below it"
        }
    }
}
