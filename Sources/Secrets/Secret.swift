/// A password or token that doesn't reveal itself by accident: every textual form of it is `<redacted>`.
public struct Secret: Sendable, Equatable, Hashable {
    private let text: String

    /// Wraps a secret.
    public init(_ text: String) {
        self.text = text
    }

    /// Returns the secret, for code that must send, store or print it on the protocol's own stream.
    public func reveal() -> String { text }

    /// Whether the secret is the empty string; git stores such passwords.
    public var isEmpty: Bool { text.isEmpty }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text `<redacted>`.
    public var description: String { "<redacted>" }
    /// The text `<redacted>`.
    public var debugDescription: String { "<redacted>" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
