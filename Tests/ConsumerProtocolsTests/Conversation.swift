import ConsumerProtocols
import CredentialEngine
import Rules
import Testing

/// What a tool is told, from its first byte to its last, if it writes this and the engine has that.
struct Conversation: Equatable {
    var output = ""
    var complaints: [Turn.Complaint] = []
    var questions: [Question] = []
    var status: Int32?

    /// Plays the tool, a read for each part of the input until it is used up, and the engine.
    init(_ consumer: any Consumer, _ input: [String] = [], _ events: [ConsumerEvent] = []) {
        self.init(consumer, bytes: input.map { Array($0.utf8) }, events)
    }

    /// Plays a tool that doesn't write text.
    init(_ consumer: any Consumer, bytes input: [[UInt8]], _ events: [ConsumerEvent] = []) {
        var (consumer, input, events) = (consumer, input[...], events[...])
        var turn = consumer.begin()
        while true {
            output += String(decoding: turn.output, as: UTF8.self)
            if let complaint = turn.complaint { complaints.append(complaint) }
            switch turn.next {
            case .read: turn = consumer.take(.input(input.popFirst() ?? []))
            case .ask(let question):
                questions.append(question)
                guard let event = events.popFirst() else {
                    Issue.record("it asks \(question), which is not expected")
                    return
                }
                turn = consumer.take(event)
            case .end(let status):
                self.status = status
                #expect(events.isEmpty, "it never asked")
                return
            }
        }
    }

    /// What it asked for, if that was one credential.
    var request: CredentialRequest? {
        guard case .get(let request) = questions.first, questions.count == 1 else { return nil }
        return request
    }
}

extension ConsumerEvent {
    /// A refusal that only the person can end.
    static let signedOut = refused(
        ReportedRefusal(
            cause: .other, message: "you must sign in", remedies: ["sign in: lanyard login URL"], status: 2))
}
