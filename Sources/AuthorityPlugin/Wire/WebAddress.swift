/// Whether a URL from outside may be handed to a browser.
///
/// The check is stricter than a browser's parser, on purpose: what it lets through means the same to every parser.
enum WebAddress {
    enum Scheme { case https, loopbackHTTP }

    /// The scheme of a URL that is safe to open, or nil where it isn't one.
    ///
    /// Refused are other schemes, user information, backslashes and every byte outside visible ASCII.
    static func scheme(of url: String) -> Scheme? {
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }) else { return nil }
        guard let colon = url.firstIndex(of: ":") else { return nil }
        let rest = url[url.index(after: colon)...]
        guard rest.hasPrefix("//") else { return nil }
        let authority = rest.dropFirst(2).prefix { !"/?#".contains($0) }.lowercased()
        guard HostName.isCanonical(authority) || isLiteral(authority) else { return nil }
        switch url[..<colon].lowercased() {
        case "https": return .https
        case "http": return isLoopback(authority) ? .loopbackHTTP : nil
        default: return nil
        }
    }

    private static func isLoopback(_ authority: String) -> Bool {
        let host = authority.hasPrefix("[") ? "[::1]" : String(authority.prefix { $0 != ":" })
        return ["127.0.0.1", "localhost"].contains(host) || isLiteral(authority)
    }

    /// `[::1]`, with or without a port; no other IPv6 literal has a use here.
    private static func isLiteral(_ authority: String) -> Bool {
        guard authority.hasPrefix("[::1]") else { return false }
        let port = authority.dropFirst(5)
        return port.isEmpty || (port.first == ":" && HostName.isPort(port.dropFirst().utf8))
    }
}

/// DNS names as they are compared here: lower case, ASCII, with a port where it isn't the usual one.
enum HostName {
    /// Whether the text is `host` or `host:port` in lower case, each label of letters, digits, `-` and `_`.
    static func isCanonical(_ text: String) -> Bool {
        let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        return isName(text.utf8[..<colon]) && (colon == text.endIndex || isPort(text.utf8[colon...].dropFirst()))
    }

    /// Whether the text is a DNS name or an IPv4 address in lower case.
    static func isName(_ name: Substring.UTF8View) -> Bool {
        guard (1...253).contains(name.count) else { return false }
        var length = 0
        var last = UInt8(ascii: ".")
        for byte in name {
            if byte == UInt8(ascii: ".") {
                guard length > 0, last != UInt8(ascii: "-") else { return false }
                length = 0
            } else {
                guard isLabelByte(byte), length < 63, length > 0 || byte != UInt8(ascii: "-") else { return false }
                length += 1
            }
            last = byte
        }
        return length > 0 && last != UInt8(ascii: "-")
    }

    /// Whether the text is a port, 1 to 65535, without leading zeros.
    static func isPort(_ text: Substring.UTF8View) -> Bool {
        guard (1...5).contains(text.count), text.first != UInt8(ascii: "0") else { return false }
        return text.allSatisfy { (0x30...0x39).contains($0) } && (Int(Substring(text)) ?? 0) <= 65_535
    }

    private static func isLabelByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }
}
