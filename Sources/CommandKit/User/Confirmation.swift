import Addresses
import AnswerCache
import CLinux
package import Forwarding
import Glibc
package import Keyring
package import Model
import Secrets
import Terminal
import TokenAcquisition

/// Asks the user whether a far side may use a credential: on the agent's terminal, or else by a notification.
package struct Confirmation {
    package let context: CommandContext
    package let requester: Requester

    package init(context: CommandContext, requester: Requester) {
        self.context = context
        self.requester = requester
    }

    /// The user's answer.
    package enum Answer: Sendable {
        case yes, no
        /// They say neither.
        case nothing
        /// Nobody can be asked.
        case nobodyThere
    }

    /// The time that the user has for an answer once the question is shown, in seconds.
    fileprivate static let patience = 60
    /// The time to wait for other far sides' questions, in seconds: longer than the agent waits for this process.
    private static let longestWait = 3600.0

    /// Returns the reason why the far side may not use it; nil if it may.
    package func refusal(of what: String) async -> ForwardedRefusal? {
        guard await requester.waitForTurn(in: context) else { return .justDeclined }
        let question: Message = "may \(requester.forward) use your credential for \(what)?\(requester.ownName)"
        // Only one question is shown at a time, whichever far side asks.
        let answer = try? await SingleFlight(environment: context.environment).withLock(
            key: "agent's question", deadline: Self.longestWait
        ) { await ask(question) }
        switch answer ?? .nothing {
        case .yes: return nil
        case .no:
            requester.noteDecline(in: context)
            return ForwardedRefusal(.user, "the use of the credential for \(what) was declined")
        case .nothing: return ForwardedRefusal(.user, "nobody confirmed the use of the credential for \(what)")
        case .nobodyThere:
            return ForwardedRefusal(
                .nobody, "each use has to be confirmed, and nobody can be asked",
                remedies: ["run `lanyard forward serve` at a terminal, or install notify-send 0.8 or later"])
        }
    }

    private func ask(_ question: Message) async -> Answer {
        if let prompt = Prompt(context) {
            requester.pending.begin()
            defer { requester.pending.end() }
            let answer = await within(.seconds(Self.patience)) {
                await prompt.decision(question, suggesting: false, takesEarlier: false)
            }
            guard let isYes = answer.flatMap(\.self) else {
                context.console.note("without an answer, \(requester.forward) gets nothing")
                return .nothing
            }
            return isYes ? .yes : .no
        }
        guard let notification = Notification(context) else { return .nobodyThere }
        return await notification.answer(to: "\(requester.forward) asks for a credential", question.text)
    }
}

extension Session {
    /// Returns what answers a far side's request, in words whose characters can't pass for others: the place or the scopes, and whose.
    package func wordsForConfirmation(
        of request: CredentialRequest, _ wanted: TokenRequest?, _ found: StoredPassword?
    ) -> String {
        var request = request
        if let found { request.path = found.path }
        let what = request.place ?? request.explicit.scopes.joined(separator: " ").displayable(limit: 300)
        let account = wanted.flatMap { acquirer.decide($0).account?.username } ?? ""
        let names = [wanted?.identity?.name, account, found?.username, request.username]
        let name = names.compactMap(\.self).first { !$0.isEmpty }
        let tenant = request.explicit.tenant.map { " in \($0.inOneWord)" } ?? ""
        return what + (name.map { " as \($0.inOneWord)" } ?? "") + tenant
    }
}

extension String {
    /// The text with all but letters, digits and what else names of accounts are made of escaped as in URLs.
    fileprivate var inOneWord: String {
        let isPlain = unicodeScalars.allSatisfy { scalar in
            scalar.isASCII
                ? scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                    || "@.-_+#".unicodeScalars.contains(scalar)
                : scalar.properties.isAlphabetic
        }
        return (isPlain ? self : percentEncoded).displayable(limit: 150)
    }

    /// Whether it is the address of a bus at a socket where nobody listens.
    fileprivate var isDeadBus: Bool {
        guard let (kind, rest) = cut(at: "="), kind.isSame(as: "unix:path"), let path = rest.pieces(between: ",").first
        else { return false }
        let descriptor = lanyard_socket_connect(String(path), 1000)
        if descriptor >= 0 { close(descriptor) }
        return [-ENOENT, -ECONNREFUSED].contains(descriptor)
    }
}

/// A desktop notification, shown by notify-send.
struct Notification: Sendable {
    private let program: String

    /// Returns nil if there is no such program or no screen.
    init?(_ context: CommandContext) {
        guard context.variable("DISPLAY") != nil || context.variable("WAYLAND_DISPLAY") != nil,
            let program = context.program("notify-send")
        else { return nil }
        self.program = program
    }

    /// Shows a notification without waiting for the user.
    func show(_ title: String, _ text: String) async { _ = await run(["--app-name=lanyard"], title, text, within: 2) }

    /// What the user chooses.
    func answer(to title: String, _ question: String) async -> Confirmation.Answer {
        let options = [
            "--app-name=lanyard", "--urgency=critical", "--wait", "--expire-time=\(Confirmation.patience * 1000)",
            "--action=allow=Allow", "--action=deny=Deny",
        ]
        guard let ended = await run(options, title, question, within: Confirmation.patience) else { return .nothing }
        guard ended.isDone else { return .nobodyThere }
        switch ended.output.trimmed(of: " \t\r\n") {
        case "allow": return .yes
        case "deny": return .no
        default: return .nothing
        }
    }

    /// Returns nil if it takes too long.
    private func run(
        _ options: [String], _ title: String, _ text: String, within seconds: Int
    ) async -> (isDone: Bool, output: String)? {
        // Notification texts have markup.
        let escaped = text.replacing(bytes: "&", with: "&amp;").replacing(bytes: "<", with: "&lt;")
        return await Program.run(program, options + ["--", title, escaped], within: .seconds(seconds))
    }
}

extension CommandContext {
    /// Returns the context of this process in the user's session of now, which the agent that started it may not have:
    /// it may have been started before that, or in an earlier one.
    ///
    /// The user's service manager is told of a desktop's variables. Whoever came by ssh, or is at a terminal, has a session
    /// of their own. A session bus is only replaced if it is gone.
    package func inPresentSession() async -> CommandContext {
        guard variable("SSH_CONNECTION") == nil, !ControllingTerminal.isThere, let systemctl = program("systemctl"),
            let text = await Program.output(systemctl, ["--user", "show-environment"])
        else { return self }
        let pairs = text.pieces(between: "\n").compactMap { $0.cut(at: "=") }
        // Values with other characters than these variables have are quoted.
        let present = Dictionary(pairs.map { (String($0.0), String($0.1)) }) { $1 }.filter { !$0.value.hasBytes("'") }
        var context = self
        if Self.displays.contains(where: { present[$0] != nil }) {
            for name in Self.displays + ["XAUTHORITY", "XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE"] {
                context.set(name, to: present[name])
            }
        }
        if let bus = present[Self.bus], variable(Self.bus)?.isDeadBus == true { context.set(Self.bus, to: bus) }
        context.keyring = Self.keyring(context.environment)
        return context
    }

    /// Changes a variable, also for the programs that are started from here.
    private mutating func set(_ name: String, to value: String?) {
        environment[name] = value
        if let value { setenv(name, value, 1) } else { unsetenv(name) }
    }

    private static let displays = ["DISPLAY", "WAYLAND_DISPLAY"]
    private static let bus = "DBUS_SESSION_BUS_ADDRESS"
}
