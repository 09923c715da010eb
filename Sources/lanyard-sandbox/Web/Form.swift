import Addresses

/// The fields of a query or form body, in order.
struct Form: Sendable {
    var fields: [(name: String, value: String)]

    init(_ fields: [(name: String, value: String)] = []) {
        self.fields = fields
    }

    /// Reads `application/x-www-form-urlencoded` text; a name or value with a broken escape stays as it is.
    init(decoding text: some StringProtocol) {
        fields = text.split(separator: "&").prefix(500).map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (Self.decode(parts[0]), parts.count > 1 ? Self.decode(parts[1]) : "")
        }
    }

    /// Returns the first value with this name; an empty one counts as absent, as in Entra.
    subscript(name: String) -> String? {
        fields.first { $0.name == name && !$0.value.isEmpty }?.value
    }

    /// The fields as `application/x-www-form-urlencoded` text, with spaces as `%20`.
    var encoded: String {
        fields.map { "\($0.name.percentEncoded)=\($0.value.percentEncoded)" }.joined(separator: "&")
    }

    /// The text of a field, or as it stands if an escape is broken.
    static func decode(_ text: some StringProtocol) -> String {
        let spaced = text.replacing(bytes: "+", with: " ")
        return spaced.percentDecoded ?? spaced
    }
}
