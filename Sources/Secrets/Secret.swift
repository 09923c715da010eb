/// A password or token that never shows itself: every textual form of it reads `<redacted>`.
public struct Secret: Sendable, Equatable, Hashable {
    private let text: String

    /// Wraps a secret.
    public init(_ text: String) {
        self.text = text
    }

    /// Gives the secret to code that must send, store or print it on the protocol's own stream.
    public func reveal() -> String { text }

    /// Whether the secret is the empty string; git stores such passwords.
    public var isEmpty: Bool { text.isEmpty }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `<redacted>`.
    public var description: String { "<redacted>" }
    /// Always `<redacted>`.
    public var debugDescription: String { "<redacted>" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
