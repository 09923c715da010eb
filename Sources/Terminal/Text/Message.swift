import Secrets

/// A text of lanyard's own for users, in which text from outside is harmless.
///
/// Literals and other messages are taken as they are. Whatever else is put into one becomes displayable
/// (`String.displayable`), and is cut after 500 characters or as many as `\(value, limit: count)` says.
public struct Message: Sendable, Hashable, ExpressibleByStringInterpolation, CustomStringConvertible {
    /// The text, fit to show; it has several lines if its literals do.
    public let text: String

    /// Creates a message of text that is safe to show as it is: lanyard's own, or made displayable already.
    public init(verbatim text: String) { self.text = text }

    /// Creates a message of a literal.
    public init(stringLiteral text: String) { self.text = text }

    /// Creates a message of its parts.
    public init(stringInterpolation interpolation: StringInterpolation) { text = interpolation.text }

    /// The text.
    public var description: String { text }

    package var isEmpty: Bool { text.isEmpty }

    package static func + (left: Message, right: Message) -> Message { "\(left)\(right)" }

    package static func += (left: inout Message, right: Message) { left = left + right }

    /// The parts of a message.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        /// Creates an empty text.
        public init(literalCapacity: Int, interpolationCount: Int) {}

        /// Adds a literal as it is.
        public mutating func appendLiteral(_ literal: String) { text += literal }

        /// Adds a message as it is.
        public mutating func appendInterpolation(_ message: Message) { text += message.text }

        /// Adds a value in a form that is safe to display, cut after `limit` characters.
        public mutating func appendInterpolation(_ value: some CustomStringConvertible, limit: Int = 500) {
            text += value.description.displayable(limit: limit)
        }
    }
}
