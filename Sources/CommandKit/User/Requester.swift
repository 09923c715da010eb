import AnswerCache
package import Forwarding
import Keyring
import PluginWire
import Secrets
import Synchronization
import SystemPackage
package import Terminal
import TokenAcquisition

/// The far side for which a command runs.
package struct Requester: Sendable {
    /// The name of the forward, which the user chose.
    package let forward: String
    /// The far side's own name (`ForwardedRequest.requester`); nothing verifies it.
    package let name: String
    package let pending: PendingQuestion

    package init(forward: String, name: String, pending: PendingQuestion) {
        self.forward = forward
        self.name = name
        self.pending = pending
    }

    /// What comes last wherever the forward is named: the far side's own name, if that is another.
    package var ownName: String { name.isEmpty || name == forward ? "" : " (it calls itself \"\(name)\")" }

    /// How long the far side can't have the user asked after they declined, in milliseconds.
    private static let rest = 30_000
    /// Seconds to wait for the turn: longer than the agent waits for this process.
    private static let patience = 3600.0

    private var decline: String { "declined\n\(forward)" }

    /// Whether the user has declined something of this far side's a moment ago.
    package func wasDeclined(in context: CommandContext) -> Bool {
        SharedNotes(environment: context.environment).happened(decline, within: Self.rest)
    }

    /// Records that the user has declined, for this far side's other requests.
    package func noteDecline(in context: CommandContext) {
        // A request that is refused because of another's decline doesn't prolong the rest.
        guard !wasDeclined(in: context) else { return }
        SharedNotes(environment: context.environment).noteTime(about: decline)
    }

    /// Waits until no other request of this far side can have the user asked, as long as this process lives; false if
    /// they have declined one meanwhile.
    ///
    /// The lock is that of the forward's name. The note is left while it is held, and read once it is.
    package func waitForTurn(in context: CommandContext) async -> Bool {
        if pending.beginTurn() {
            // Without a place for locks, several questions may come at once.
            try? await SingleFlight(environment: context.environment).keepLock(
                key: "asking for the forward \(forward)", deadline: Self.patience)
        }
        return !wasDeclined(in: context)
    }

    /// Says who asks for a sign-in before a page opens: on the agent's terminal, and in a notification if it has none.
    func announce(_ url: String?, in context: CommandContext) async throws(AcquisitionError) {
        guard await waitForTurn(in: context) else {
            throw .plugin(PluginError(.cancelled, ForwardedRefusal.justDeclined.message), name: "")
        }
        let place: Message = url.map { " to \($0)" } ?? ""
        let text: Message = "\(forward) asks for a sign-in\(place)\(ownName)"
        context.console.note(Hint(text))
        pending.begin()
        guard !ControllingTerminal.isThere else { return }
        await Notification(context)?.show("\(forward) asks for a sign-in", text.text)
    }
}

extension ForwardedRefusal {
    /// The refusal of a request soon after the user declined another.
    package static let justDeclined = ForwardedRefusal(.user, "the use of a credential was declined a moment ago")
}

/// Whether the terminal shows a question or a sign-in that the user hasn't answered yet, and whose turn it is.
package final class PendingQuestion: Sendable {
    private let isShown = Mutex(false)
    private let hasTurn = Mutex(false)
    private let isOver = Mutex(false)

    package init() {}

    /// Whether the reply is certain, so that nothing is left to withdraw.
    package var isSettled: Bool { isOver.withLock(\.self) }

    /// Notes that the reply is certain.
    package func settle() {
        end()
        isOver.withLock { $0 = true }
    }

    package func begin() { isShown.withLock { $0 = true } }
    package func end() { isShown.withLock { $0 = false } }

    /// True the first time.
    func beginTurn() -> Bool {
        hasTurn.withLock { has in
            defer { has = true }
            return !has
        }
    }

    /// Tells the user below the question that an answer is no longer wanted.
    package func withdraw(_ console: Console) {
        guard isShown.withLock(\.self) else { return }
        _ = try? FileDescriptor.standardError.writeAll("\n".utf8)
        console.note("ignore the question above: the request was withdrawn")
    }
}
