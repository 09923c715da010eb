import Addresses
import Forwarding
import Rules
import Secrets
import Synchronization
import SystemPackage
import Terminal
import TokenStore

/// Whether the terminal shows a question or a sign-in that the user hasn't answered yet.
final class PendingQuestion: Sendable {
    private let isShown = Mutex(false)

    func begin() { isShown.withLock { $0 = true } }
    func end() { isShown.withLock { $0 = false } }

    /// Tells the user below the question that an answer is no longer wanted.
    func withdraw(_ console: Console) {
        guard isShown.withLock(\.self) else { return }
        _ = try? FileDescriptor.standardError.writeAll("\n".utf8)
        console.note("ignore the question above: the request was withdrawn")
    }
}

/// Asks the user whether a far side may use a credential: on the agent's terminal, or else by a notification.
struct Confirmation {
    let context: CommandContext
    let requester: Requester

    /// The user's answer.
    enum Answer: Sendable {
        case yes, no
        /// They say neither.
        case nothing
        /// Nobody can be asked.
        case nobodyThere
    }

    /// The time that the user has for an answer, in seconds.
    fileprivate static let patience = 60

    /// Returns the reason why the far side may not use it; nil if it may.
    func refusal(of request: CredentialRequest) async -> ForwardedRefusal? {
        let what = request.place ?? request.wish.scopes.joined(separator: " ").displayable(limit: 300)
        let question = "may \(requester.text) use your credential for \(what)?"
        // Only one question is shown at a time, whichever far side asks.
        let answer = try? await SingleFlight(environment: context.environment).withLock(
            key: "agent's question", deadline: Double(Self.patience)
        ) { await ask(question, what) }
        switch answer ?? .nothing {
        case .yes: return nil
        case .no: return ForwardedRefusal(.person, "the use of the credential for \(what) was declined")
        case .nothing: return ForwardedRefusal(.person, "nobody confirmed the use of the credential for \(what)")
        case .nobodyThere:
            return ForwardedRefusal(
                .nobody, "each use has to be confirmed, and nobody can be asked",
                remedies: ["run `lanyard agent` at a terminal, or install notify-send 0.8 or later"])
        }
    }

    private func ask(_ question: String, _ what: String) async -> Answer {
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
        return await notification.answer(to: "\(requester.forward) asks for a credential", question)
    }
}

extension Requester {
    /// Says who asks for a sign-in before a page opens: on the agent's terminal, and in a notification if it has none.
    func announce(_ url: String?, in context: CommandContext) async {
        let text = "\(self.text) asks for a sign-in\(url.map { " to \($0.displayable(limit: 300))" } ?? "")"
        context.console.note(text)
        pending.begin()
        guard !ControllingTerminal.isThere else { return }
        await Notification(context)?.show("\(forward) asks for a sign-in", text)
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
