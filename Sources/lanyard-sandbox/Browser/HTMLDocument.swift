import Addresses

/// A page as the scripted browser sees it: its forms and its alert.
struct HTMLDocument: Sendable {
    /// A field, or a button that submits the form; its name is empty if it has none.
    struct Field: Sendable, Equatable {
        var name: String
        var value: String
        /// The example that shows while the field is empty.
        var placeholder = ""
    }

    struct Form: Sendable {
        var action: String
        var fields: [Field] = []
        var buttons: [Field] = []

        func field(_ name: String) -> Field? { fields.first { $0.name == name } }
        func button(_ name: String, _ value: String? = nil) -> Field? {
            buttons.first { $0.name == name && (value == nil || $0.value == value) }
        }
    }

    private(set) var forms: [Form] = []
    private(set) var title = ""
    /// The text of the page's `role="alert"` element.
    private(set) var alert: String?

    init(_ markup: String) {
        var scanner = TagScanner(markup)
        var open: Form?
        while let (name, tag) = scanner.next() {
            switch name {
            case "title": title = scanner.textAhead()
            case "form": open = Form(action: tag["action"] ?? "")
            case "/form":
                if let form = open { forms.append(form) }
                open = nil
            case "input":
                if let name = tag["name"] {
                    let placeholder = tag["placeholder"] ?? ""
                    open?.fields.append(Field(name: name, value: tag["value"] ?? "", placeholder: placeholder))
                }
            case "button": open?.buttons.append(Field(name: tag["name"] ?? "", value: tag["value"] ?? ""))
            default: break
            }
            if tag["role"] == "alert" { alert = scanner.textAhead() }
        }
    }
}

/// Scans markup tag by tag; it supports only well-formed pages.
private struct TagScanner {
    private var rest: Substring

    init(_ markup: String) { rest = markup[...] }

    /// Returns the text up to the next tag.
    func textAhead() -> String { Self.decode(rest.prefix { $0 != "<" }) }

    mutating func next() -> (name: String, attributes: [String: String])? {
        guard let start = rest.firstIndex(of: "<") else { return nil }
        rest = rest[rest.index(after: start)...]
        let name = String(rest.prefix { !$0.isWhitespace && $0 != ">" }).lowercased()
        rest = rest.dropFirst(name.count)
        var attributes: [String: String] = [:]
        while let (key, value) = attribute() { attributes[key] = value }
        rest = rest.dropFirst()
        return (name, attributes)
    }

    private mutating func attribute() -> (String, String)? {
        rest = rest.drop { $0.isWhitespace || $0 == "/" }
        guard let first = rest.first, first != ">" else { return nil }
        let key = String(rest.prefix { !$0.isWhitespace && $0 != "=" && $0 != ">" }).lowercased()
        rest = rest.dropFirst(max(key.count, 1))
        guard rest.first == "=" else { return (key, "") }
        rest = rest.dropFirst()
        let value: Substring
        if let quote = rest.first, quote == "\"" || quote == "'" {
            value = rest.dropFirst().prefix { $0 != quote }
            rest = rest.dropFirst(value.count + 2)
        } else {
            value = rest.prefix { !$0.isWhitespace && $0 != ">" }
            rest = rest.dropFirst(value.count)
        }
        return (key, Self.decode(value))
    }

    private static func decode(_ text: Substring) -> String {
        let pieces = text.pieces(between: "&", omittingEmpty: false)
        return pieces.dropFirst().reduce(String(pieces[0])) { decoded, piece in
            guard let (name, rest) = piece.cut(at: ";"), name.count <= 8, let character = entity(name) else {
                return decoded + "&" + piece
            }
            return decoded + String(character) + rest
        }
    }

    private static let entities: [Substring: Character] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ",
    ]

    private static func entity(_ name: Substring) -> Character? {
        guard name.first == "#" else { return entities[name] }
        let digits = name.dropFirst()
        let code = digits.first == "x" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return code.flatMap(Unicode.Scalar.init).map(Character.init)
    }
}
