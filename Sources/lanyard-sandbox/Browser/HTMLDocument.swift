/// A page as the scripted browser sees it: its forms and its alert.
struct HTMLDocument: Sendable {
    struct Field: Sendable, Equatable {
        var name: String
        var value: String
    }

    /// A button that submits a form.
    struct Button: Sendable, Equatable {
        var name: String?
        var value: String
    }

    struct Form: Sendable {
        var action: String
        var fields: [Field] = []
        var buttons: [Button] = []

        func field(_ name: String) -> Field? { fields.first { $0.name == name } }
        func button(_ name: String, _ value: String? = nil) -> Button? {
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
        while let tag = scanner.next() {
            switch tag.name {
            case "title": title = scanner.textAhead()
            case "form": open = Form(action: tag["action"] ?? "")
            case "/form":
                if let form = open { forms.append(form) }
                open = nil
            case "input":
                if let name = tag["name"] { open?.fields.append(Field(name: name, value: tag["value"] ?? "")) }
            case "button": open?.buttons.append(Button(name: tag["name"], value: tag["value"] ?? ""))
            default: break
            }
            if tag["role"] == "alert" { alert = scanner.textAhead() }
        }
    }
}

/// Scans markup tag by tag; it supports only well-formed pages.
private struct TagScanner {
    struct Tag {
        var name: String
        var attributes: [String: String]
        subscript(name: String) -> String? { attributes[name] }
    }

    private var rest: Substring

    init(_ markup: String) { rest = markup[...] }

    /// Returns the text up to the next tag.
    func textAhead() -> String { Self.decode(rest.prefix { $0 != "<" }) }

    mutating func next() -> Tag? {
        guard let start = rest.firstIndex(of: "<") else { return nil }
        rest = rest[rest.index(after: start)...]
        let name = String(rest.prefix { !$0.isWhitespace && $0 != ">" }).lowercased()
        rest = rest.dropFirst(name.count)
        var tag = Tag(name: name, attributes: [:])
        while let (key, value) = attribute() { tag.attributes[key] = value }
        rest = rest.dropFirst()
        return tag
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
        var decoded = ""
        var rest = text
        while let ampersand = rest.firstIndex(of: "&") {
            decoded += rest[..<ampersand]
            rest = rest[rest.index(after: ampersand)...]
            let name = rest.prefix { $0 != ";" && $0 != "&" }
            if name.count <= 8, rest.dropFirst(name.count).first == ";", let character = entity(name) {
                decoded.append(character)
                rest = rest.dropFirst(name.count + 1)
            } else {
                decoded += "&"
            }
        }
        return decoded + rest
    }

    private static func entity(_ name: Substring) -> Character? {
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        case "nbsp": return " "
        default:
            guard name.first == "#" else { return nil }
            let digits = name.dropFirst()
            let code = digits.first == "x" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
            return code.flatMap(Unicode.Scalar.init).map(Character.init)
        }
    }
}
