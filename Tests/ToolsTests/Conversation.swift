import CredentialEngine
import Model
import Rules
import Terminal
import Testing
import Tools

/// Everything that a tool receives for its input and the engine's results.
struct Conversation: Equatable {
    private(set) var output = ""
    private(set) var complaints: [Turn.Complaint] = []
    private(set) var notes: [String] = []
    private(set) var questions: [Question] = []
    private(set) var status: Int32?

    /// Plays the tool, with one read per part of the input, and the engine, with one result per question.
    init(_ tool: any ToolProtocol, _ input: [String] = [], _ events: [ToolEvent?] = []) {
        self.init(tool, bytes: input.map { Array($0.utf8) }, events)
    }

    /// Plays a tool with binary input.
    init(_ tool: any ToolProtocol, bytes input: [[UInt8]], _ events: [ToolEvent?] = []) {
        var (tool, input, events, bytes) = (tool, input[...], events.compactMap(\.self)[...], [] as [UInt8])
        var turn = tool.begin()
        while true {
            bytes += turn.output
            if let complaint = turn.complaint { complaints.append(complaint) }
            if let note = turn.note { notes.append(note.text) }
            switch turn.next {
            case .read: turn = tool.receive(.input(input.popFirst() ?? []))
            case .ask(let question):
                questions.append(question)
                guard let event = events.popFirst() else {
                    Issue.record("it asks \(question), which is not expected")
                    return
                }
                turn = tool.receive(event)
            case .end(let status):
                self.status = status
                output = String(decoding: bytes, as: UTF8.self)
                #expect(events.isEmpty, "it never asked")
                return
            }
        }
    }

    /// The request of the only question.
    var request: CredentialRequest? {
        guard questions.count == 1 else { return nil }
        return switch questions[0] {
        case .get(let request), .store(_, let request), .erase(let request, _): request
        case .list: nil
        }
    }

    /// The message on stderr, if it is specific to the tool.
    var words: String? {
        guard case .other(let message, let remedy) = complaints.last else { return nil }
        return ([message] + [remedy].compactMap(\.self)).map(\.text).joined(separator: "; ")
    }
}

extension ToolEvent {
    /// A refusal that requires the user.
    static let signedOut = refused(
        Refusal(
            cause: .other, message: "you must sign in", remedies: ["sign in: lanyard login URL"], status: 2))
    /// A refusal that no sign-in can resolve.
    static let locked = refused(Refusal(cause: .keyring, message: "the keyring is locked", status: 1))
}
