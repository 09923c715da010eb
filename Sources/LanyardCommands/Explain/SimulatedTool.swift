import Addresses
import ArgumentParser
import CredentialEngine
import Rules
import Secrets
import Tools

/// The name of a tool that lanyard serves.
struct ToolName: ExpressibleByArgument, Sendable {
    static let allValueStrings = Tool.names

    let text: String

    init?(argument: String) {
        guard Tool.names.contains(argument) else { return nil }
        text = argument
    }

    var isGit: Bool { text == "git" }

    /// The tool whose settings this one uses, as `lanyard configure` names it.
    var configured: ToolSetup? { ToolSetup.serving(text) }
}

/// A simulated tool: it asks for a URL as the real tool does, and gets the same answers.
struct SimulatedTool: Sendable {
    let name: ToolName
    /// The number of seconds that the tool waits; nil if it waits for a user.
    var timeLimit: Int? { type(of: consumer).timeLimit }
    /// Whether the tool can send more of a URL than its host.
    var sendsPath: Bool { type(of: consumer).sendsPath }
    /// Whether the tool accepts stored passwords.
    var takesPasswords: Bool { type(of: consumer).takesPasswords }
    /// The tool's question to the engine; nil if it asks nothing for such a URL.
    var request: CredentialRequest? { if case .ask(.get(let request)) = firstTurn.next { request } else { nil } }
    /// The first turn, which is the last one if the tool asks nothing.
    let firstTurn: Turn
    private let consumer: any Consumer

    /// Makes the tool ask for a URL.
    init?(_ name: ToolName, _ url: String, in context: CommandContext) {
        guard let (consumer, invocation) = Tool.trial(of: name.text, for: url, context.call([])) else { return nil }
        var asking = consumer
        firstTurn = asking.begin(with: invocation)
        self.name = name
        self.consumer = asking
    }

    /// Returns the turn after an event from the engine.
    func answer(_ event: ConsumerEvent) -> Turn {
        var consumer = consumer
        return consumer.take(event)
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
    var status: Int32? { if case .end(let status) = next { status } else { nil } }

    private var text: String { String(decoding: output, as: UTF8.self) }

    /// Returns in words what the answer contains of a masked credential; nil if it contains nothing.
    func contents(of masked: Credential, exchanged: Bool) -> String? {
        let secret =
            switch masked.kind {
            case .accessToken: exchanged ? "a credential that your token was exchanged for" : "an access token"
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
    func lines(of masked: Credential?) -> [String] {
        var text = text
        if let header = masked?.authorizationHeader, header.hasPrefix("Basic ") {
            text = text.replacing(bytes: header, with: "Basic \(Credential.mask)")
        }
        if let masked, masked.expiresOn == Credential.openEnd {
            let forms = [String(Credential.openEnd), masked.expiry, AzureCLIConsumer.localTime(Credential.openEnd)]
            for form in forms.compactMap(\.self) { text = text.replacing(bytes: form, with: Credential.mask) }
        }
        return text.pieces(between: "\n").map { String($0).displayable(limit: 1000) }
    }
}
