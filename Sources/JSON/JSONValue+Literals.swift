extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral
{
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates a whole number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Creates an object; if a name occurs several times, the last one counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}

extension JSONValue {
    /// A string, or null.
    public init(_ text: String?) { self = text.map(JSONValue.string) ?? .null }

    /// A number, or null.
    public init(_ number: Int?) { self = number.map { .integer(Int64($0)) } ?? .null }

    /// An array of strings.
    public init(strings: some Sequence<String>) { self = .array(strings.map(JSONValue.string)) }
}
