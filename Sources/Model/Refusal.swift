/// The engine's refusal, as far as a tool's protocol can report it.
public struct Refusal: Sendable, Equatable {
    /// The causes, as far as tools act on them.
    public enum Cause: Sendable {
        /// The keyring can't be used now.
        case keyring
        /// The user said no or gave no answer.
        case user
        /// The authority can't be reached or is too busy.
        case authority
        /// Anything else.
        case other
    }

    /// The cause, as far as tools act on it.
    public var cause: Cause
    /// Whether no other source may answer instead.
    public var isFinal: Bool
    /// The message for the user, for protocols that carry one; it contains no secret.
    public var message: String
    /// The remedies for the user, each on one line; empty if there are none.
    public var remedies: [String]
    /// The exit status of a program that ends with this refusal.
    public var status: Int32

    /// Creates a refusal.
    public init(
        cause: Cause, isFinal: Bool = false, message: String, remedies: [String] = [], status: Int32
    ) {
        self.cause = cause
        self.isFinal = isFinal
        self.message = message
        self.remedies = remedies
        self.status = status
    }

    /// The message and remedies on one line, for protocols that carry a single text.
    public var text: String { ([message] + remedies).joined(separator: "; ") }
}
