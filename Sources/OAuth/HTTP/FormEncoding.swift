import Addresses

/// `application/x-www-form-urlencoded`, the format of query strings and form bodies.
package enum FormEncoding {
    /// An unescaped name and value.
    package typealias Field = (name: String, value: String)

    /// The media type.
    package static let mediaType = "application/x-www-form-urlencoded"

    /// Whether a header of content types names this format, with or without parameters.
    static func isType(_ header: String?) -> Bool {
        header?.pieces(between: ";").first?.trimmed().lowercased() == mediaType
    }

    /// Escapes everything but RFC 3986's unreserved characters; a space becomes `%20`, which is valid in both queries
    /// and forms.
    package static func encode(_ fields: [Field]) -> String {
        fields.map { "\($0.name.percentEncoded)=\($0.value.percentEncoded)" }.joined(separator: "&")
    }

    /// Escapes one value as in a form, with `+` for a space (RFC 6749, 2.3.1).
    package static func encode(value: String) -> String { value.percentEncoded.replacing(bytes: "%20", with: "+") }

    /// Appends fields to a URL, which may already have a query.
    package static func append(_ fields: [Field], to url: String) -> String {
        fields.isEmpty ? url : url + (url.hasBytes("?") ? "&" : "?") + encode(fields)
    }

    /// Parses fields; drops names that occur twice (RFC 6749, 3.1) and fields that aren't UTF-8.
    package static func decode(_ text: Substring) -> [String: String] {
        var fields: [String: String] = [:]
        var names: Set<String> = []
        for pair in text.pieces(between: "&") {
            let halves = pair.pieces(between: "=", maxSplits: 1, omittingEmpty: false)
            guard let name = halves.first.flatMap(unescape) else { continue }
            // A value that can't be read makes its name occur, too.
            fields[name] = names.insert(name).inserted ? unescape(halves.count == 2 ? halves[1] : "") : nil
        }
        return fields
    }

    private static func unescape(_ text: Substring) -> String? { text.replacing(bytes: "+", with: " ").percentDecoded }
}
