public import Forwarding
import Model

/// The agent's side of a forwarded request: it passes the request to the engine and returns the result as one block.
public struct ForwardedProtocol: ToolProtocol {
    private let request: ForwardedRequest

    /// Creates a tool for a request that has been read and may be answered.
    public init(_ request: ForwardedRequest) {
        self.request = request
    }

    /// Asks the engine.
    public mutating func begin() -> Turn { Turn(.ask(.get(request.wanted))) }

    /// Returns the engine's answer to the far side.
    public mutating func receive(_ event: ToolEvent) -> Turn {
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
    fileprivate init(_ refusal: Refusal) {
        let code: Code =
            switch refusal.cause {
            case .keyring: .keyring
            case .user: .user
            case .authority: .authority
            case .other: refusal.status == Self.interactionRequired ? .nobody : .other
            }
        self.init(code, refusal.message, remedies: refusal.remedies)
    }

    /// The exit status for errors that need the user.
    private static let interactionRequired: Int32 = 2
}
