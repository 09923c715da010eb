import Addresses
import ArgumentParser
import ConsumerProtocols
import CredentialEngine
import Rules
import Secrets

/// The name of a tool that lanyard serves.
struct ToolName: ExpressibleByArgument, Sendable {
    static let allValueStrings = ServedTool.names

    let text: String

    init?(argument: String) {
        guard ServedTool.names.contains(argument) else { return nil }
        text = argument
    }

    var isGit: Bool { text == "git" }

    /// The tool whose settings this one reads, as `lanyard configure` calls it.
    var configured: (any ConfigurableTool.Type)? { Tools.serving(text) }
}

/// A tool that is played: it asks for a URL as the real one does, and is told what it would be told.
struct AskingTool: Sendable {
    /// What it comes to read.
    struct Answer: Sendable {
        /// What lanyard prints.
        let output: String
        /// What it says on stderr, unless that is the engine's own refusal.
        let complaint: Turn.Complaint?
        /// Its exit status; nil if it goes on.
        let status: Int32?

        fileprivate init(_ turn: Turn) {
            output = String(decoding: turn.output, as: UTF8.self)
            complaint = turn.complaint
            if case .end(let status) = turn.next { self.status = status } else { status = nil }
        }
    }

    let name: ToolName
    /// In seconds; nil if the tool waits for a person.
    let timeLimit: Int?
    /// Whether it can name more of a URL than its host.
    let sendsPath: Bool
    /// Whether it is given stored passwords.
    let takesPasswords: Bool
    /// What it asks the engine; nil if it asks nothing for such a URL.
    let request: CredentialRequest?
    /// What it reads if it asks nothing.
    let refusal: Answer
    private let consumer: any Consumer

    /// Has it ask for a URL.
    init?(_ name: ToolName, _ url: String, in context: CommandContext) {
        guard let (consumer, inquiry) = ServedTool.trial(of: name.text, for: url, context) else {
            return nil
        }
        var asking = consumer
        let turn = asking.hear(inquiry)
        self.name = name
        self.consumer = asking
        timeLimit = type(of: consumer).timeLimit
        sendsPath = type(of: consumer).sendsPath
        takesPasswords = type(of: consumer).takesPasswords
        if case .ask(.get(let request)) = turn.next { self.request = request } else { request = nil }
        refusal = Answer(turn)
    }

    /// What it reads if the engine says this.
    func answer(_ event: ConsumerEvent) -> Answer {
        var consumer = consumer
        return Answer(consumer.take(event))
    }
}

extension Credential {
    /// What stands for each secret.
    fileprivate static let mask = "…"

    /// The end of a token that nobody has yet, which no token has.
    static let openEnd = 253_402_300_799

    /// The same with nothing in it that is secret.
    var masked: Credential {
        var masked = self
        if !secret.isEmpty { masked.secret = Secret(Self.mask) }
        masked.fields = fields.mapValues { _ in Secret(Self.mask) }
        masked.oauthRefreshToken = oauthRefreshToken.map { _ in Secret(Self.mask) }
        return masked
    }
}

extension AskingTool.Answer {
    /// What of a masked credential is in it, in words; nil if nothing is.
    func contents(of masked: Credential, exchanged: Bool) -> String? {
        let secret =
            switch masked.kind {
            case .accessToken: exchanged ? "a credential that your token was exchanged for" : "an access token"
            case .password: "a password"
            case .authorization: "a credential"
            }
        let fields = masked.fields.keys.filter(output.hasBytes).sorted()
        let end = isTold(masked.expiresOn, masked.expiry) ? ", and \(fields.isEmpty ? "its" : "their") expiry time" : ""
        if output.hasBytes(masked.authorizationHeader) { return header(masked, secret) + end }
        guard output.hasBytes(Credential.mask) else { return nil }
        guard fields.isEmpty else { return "temporary keys (\(fields.joined(separator: ", ")))\(end)" }
        let name = masked.passwordUsername
        let isNamed = !name.isEmpty && output.hasBytes(name)
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
        return output.hasBytes(String(end)) || output.hasBytes(date)
    }

    /// The lines of a masked answer; what hides a user name in base64 is masked as well.
    func lines(of masked: Credential?) -> [String] {
        var text = output
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
