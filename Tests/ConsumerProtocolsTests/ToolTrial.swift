import ConsumerProtocols
import CredentialEngine
import Rules
import Testing

/// One run of a tool's protocol: what the tool writes, what the engine says, and what came of it.
struct ToolTrial: Equatable {
    private(set) var output = ""
    private(set) var complaint: Turn.Complaint?
    private(set) var question: Question?
    private(set) var status: Int32?

    /// Runs it; the engine says the event to the only question, and nothing more is written once the input is over.
    init(_ consumer: any Consumer, input: [String] = [], event: ConsumerEvent? = nil) {
        var (consumer, input, bytes) = (consumer, input, [UInt8]())
        var turn = consumer.begin()
        while true {
            bytes += turn.output
            complaint = turn.complaint ?? complaint
            switch turn.next {
            case .read: turn = consumer.take(.input(input.isEmpty ? [] : Array(input.removeFirst().utf8)))
            case .ask(let asked):
                guard question == nil, let event else {
                    Issue.record("it asks, or asks again: \(asked)")
                    return
                }
                question = asked
                turn = consumer.take(event)
            case .end(let status):
                self.status = status
                output = String(decoding: bytes, as: UTF8.self)
                return
            }
        }
    }

    /// What is told on stderr, if it is of the tool's own.
    var words: String? {
        if case .other(let message, let remedy) = complaint { message + (remedy.map { "; \($0)" } ?? "") } else { nil }
    }

    /// What was asked for, whatever was asked.
    var request: CredentialRequest? {
        switch question {
        case .get(let request), .store(_, let request), .erase(let request, _): request
        case .list, nil: nil
        }
    }
}

extension ConsumerEvent {
    /// A refusal that a tool may tell.
    static let refusal = ConsumerEvent.refused(
        ReportedRefusal(
            cause: .other, message: "nobody is there", remedies: ["run: lanyard login https://a.example"], status: 2))
}
