import CredentialEngine
public import Forwarding

/// A far side as a consumer: the agent passes its request on, and what comes of it goes back as one block.
public struct ForwardedConsumer: Consumer {
    private let request: ForwardedRequest

    /// Serves a request that has been read and may be answered.
    public init(_ request: ForwardedRequest) {
        self.request = request
    }

    /// An agent is asked by lanyard alone.
    public static func inquiry(for url: String, atTerminal: Bool) -> Inquiry { Inquiry() }

    /// Asks the engine.
    public mutating func begin() -> Turn { Turn(.ask(.get(request.wanted))) }

    /// Answers.
    public mutating func take(_ event: ConsumerEvent) -> Turn {
        switch event {
        case .input: Turn(.end(1))
        case .credential(let credential): Self.reply(.credential(credential))
        case .nothing: Self.reply(.nothing)
        case .refused(let refusal): Self.reply(.refused(ForwardedRefusal(refusal)), complaint: .refusal)
        }
    }

    private static func reply(_ reply: ForwardedReply, complaint: Turn.Complaint? = nil) -> Turn {
        Turn(output: reply.bytes, complaint: complaint, .end(0))
    }
}

extension ForwardedRefusal {
    fileprivate init(_ refusal: ReportedRefusal) {
        let code: Code =
            switch refusal.cause {
            case .keyring: .keyring
            case .person: .person
            case .authority: .authority
            case .other: refusal.status == Self.interactionRequired ? .nobody : .other
            }
        self.init(code, refusal.message, remedies: refusal.remedies)
    }

    /// The status of a program that only the person could help.
    private static let interactionRequired: Int32 = 2
}
