/// A host as git sends it: a name or address, with `:port` where the URL has one.
public struct RequestHost: Sendable, Hashable {
    /// The name or address, lower-cased; an IPv6 address without its brackets.
    public let name: String
    /// The port, where the URL names one.
    public let port: Int?

    /// Makes a host of parts known to be right.
    public init(name: String, port: Int?) {
        self.name = name.lowercased()
        self.port = port
    }

    /// Reads `NAME`, `NAME:PORT`, `[ADDRESS]` or `[ADDRESS]:PORT`.
    ///
    /// Nil where the text is none of these, or holds a character that no host has: space, control character, slash,
    /// `@`, `?`, `#`, backslash or `%`.
    public init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= 1024 else { return nil }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && !Self.delimiters.contains($0) }) else { return nil }
        var rest = text[...]
        if rest.first == "[" {
            guard let close = rest.firstIndex(of: "]") else { return nil }
            let address = rest[rest.index(after: rest.startIndex)..<close]
            guard address.contains(":"), address.utf8.allSatisfy(\.isAddressByte) else { return nil }
            name = address.lowercased()
            rest = rest[rest.index(after: close)...]
        } else {
            let end = rest.firstIndex(of: ":") ?? rest.endIndex
            name = rest[..<end].lowercased()
            rest = rest[end...]
        }
        guard !name.isEmpty else { return nil }
        guard !rest.isEmpty else {
            port = nil
            return
        }
        guard rest.first == ":", let number = Int(rest.dropFirst()), (1...65_535).contains(number) else { return nil }
        port = number
    }

    /// The host as a URL writes it.
    public var text: String {
        let bracketed = name.contains(":") ? "[\(name)]" : name
        return port.map { "\(bracketed):\($0)" } ?? bracketed
    }

    private static let delimiters = Set("/@?#\\%".utf8)
}

extension UInt8 {
    fileprivate var isAddressByte: Bool {
        switch self {
        case 0x30...0x3A, 0x41...0x46, 0x61...0x66, UInt8(ascii: "."): true
        default: false
        }
    }
}
