import Addresses

/// HTML markup; interpolated text is escaped, interpolated markup isn't.
struct HTML: ExpressibleByStringInterpolation, Sendable {
    var markup: String

    init(stringLiteral value: String) { markup = value }
    init(stringInterpolation: StringInterpolation) { markup = stringInterpolation.markup }
    init(joining parts: [HTML]) { markup = parts.map(\.markup).joined(separator: "\n") }

    struct StringInterpolation: StringInterpolationProtocol {
        var markup = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            markup.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        mutating func appendLiteral(_ literal: String) { markup += literal }
        mutating func appendInterpolation(_ html: HTML?) { markup += html?.markup ?? "" }
        mutating func appendInterpolation(_ text: some StringProtocol) { markup += text.htmlEscaped }
    }
}
