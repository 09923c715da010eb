import Addresses

/// `application/x-www-form-urlencoded`, as query strings and form bodies carry it.
package enum FormEncoding {
    /// A name and its value, neither escaped.
    package typealias Field = (name: String, value: String)

    static let mediaType = "application/x-www-form-urlencoded"

    /// Escapes all but RFC 3986's unreserved characters; a space becomes `%20`, which both query and form take.
    package static func encode(_ fields: [Field]) -> String {
        fields.map { "\($0.name.percentEncoded)=\($0.value.percentEncoded)" }.joined(separator: "&")
    }

    /// Escapes one value as a form does it, a space as `+` (RFC 6749, 2.3.1).
    package static func encode(value: String) -> String { value.percentEncoded.replacing(bytes: "%20", with: "+") }

    /// Appends fields to a URL that may have a query already.
    package static func append(_ fields: [Field], to url: String) -> String {
        fields.isEmpty ? url : url + (url.hasBytes("?") ? "&" : "?") + encode(fields)
    }

    /// Reads fields; of a name that occurs twice nothing is kept (RFC 6749, 3.1), nor of one that is not UTF-8.
    package static func decode(_ text: Substring) -> [String: String] {
        var fields: [String: String] = [:]
        var repeated: Set<String> = []
        for pair in text.pieces(between: "&", maxSplits: 64) {
            let halves = pair.pieces(between: "=", maxSplits: 1, omittingEmpty: false)
            guard let name = halves.first.flatMap(unescape), let value = unescape(halves.count == 2 ? halves[1] : "")
            else { continue }
            if fields.updateValue(value, forKey: name) != nil { repeated.insert(name) }
        }
        return fields.filter { !repeated.contains($0.key) }
    }

    private static func unescape(_ text: Substring) -> String? { text.replacing(bytes: "+", with: " ").percentDecoded }
}
