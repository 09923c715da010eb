extension StringProtocol {
    /// The text with its capitals escaped, for a place where case doesn't count although it counts in the text;
    /// `percentDecoded` undoes that.
    package var withoutCapitals: String {
        let bytes = utf8.flatMap {
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? Array("%\([$0].hexadecimal)".utf8) : [$0]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text with its escapes decoded (RFC 3986, 2.1); nil if one is malformed or the bytes aren't UTF-8.
    public var percentDecoded: String? { percentDecoded(keepingStrays: false) }

    /// Decodes as curl does: a `%` that begins no escape stands for itself; nil if the bytes aren't UTF-8.
    var percentDecodedAsByCurl: String? { percentDecoded(keepingStrays: true) }

    private func percentDecoded(keepingStrays: Bool) -> String? {
        let utf8 = Array(utf8)
        guard keepingStrays || utf8.hasOnlyWholeEscapes else { return nil }
        return String(validating: utf8.decodedOnce, as: UTF8.self)
    }

    /// A URL's path, decoded as by git, but so that it still says the same.
    ///
    /// `%2F` is no slash, and `%3F` and `%23` begin no query, so they stay. So does the escape of a `%` that would then
    /// seem to begin one of these. The path is nil if an escape is malformed or the bytes aren't UTF-8.
    package var percentDecodedPath: String? {
        let utf8 = Array(utf8)
        guard utf8.hasOnlyWholeEscapes else { return nil }
        let read = utf8.unescaped
        var bytes: [UInt8] = []
        for (index, (byte, isEscaped)) in read.enumerated() {
            let next = [byte] + read[(index + 1)...].prefix(2).map(\.byte)
            let isKept = isEscaped && [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains(byte)
            bytes += isKept || next[...].isKeptEscape ? byte.escape : [byte]
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// A decoded path, encoded so that `StrictURL` reads it back; a query after it stays a query.
    public var percentEncodedPath: String {
        var rest = Array(utf8)[...]
        var bytes: [UInt8] = []
        while let byte = rest.first {
            let isWhole = byte.mayStandInURL && (byte != UInt8(ascii: "%") || rest.isKeptEscape)
            bytes += isWhole ? [byte] : byte.escape
            rest = rest.dropFirst()
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text with all characters escaped that RFC 3986 doesn't call unreserved; a space thus becomes `%20`, which
    /// queries and forms accept.
    package var percentEncoded: String { percentEncoded(unless: \.isUnreserved) }

    /// The text with all characters escaped but these.
    package func percentEncoded(unless mayStand: (UInt8) -> Bool) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count)
        // Not with flatMap, which allocates an array for each byte.
        for byte in utf8 { if mayStand(byte) { bytes.append(byte) } else { bytes += byte.escape } }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether it has a C0 control character or DEL, which no URL that git can parse contains.
    @inlinable package var hasControlCharacter: Bool { utf8.contains { $0 < 0x20 || $0 == 0x7F } }

    /// The text escaped for an HTML element, or an attribute in quotes of either kind.
    package var htmlEscaped: String {
        var html = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": html += "&amp;"
            case "<": html += "&lt;"
            case ">": html += "&gt;"
            case "\"": html += "&quot;"
            case "'": html += "&#39;"
            default: html.unicodeScalars.append(scalar)
            }
        }
        return html
    }
}

extension UInt8 {
    fileprivate var escape: [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return [UInt8(ascii: "%"), digits[Int(self >> 4)], digits[Int(self & 15)]]
    }

    package var isLowerCase: Bool { (0x61...0x7A).contains(self) }
    package var isLetter: Bool { (0x41...0x5A).contains(self) || isLowerCase }
    package var isDigit: Bool { (0x30...0x39).contains(self) }
    package var isAlphanumeric: Bool { isLetter || isDigit }
    package var isHexadecimal: Bool { isDigit || (0x41...0x46).contains(self) || (0x61...0x66).contains(self) }

    /// A lower-case letter, a digit or a hyphen.
    package var isLowerCaseNameByte: Bool { isDigit || isLowerCase || self == UInt8(ascii: "-") }

    /// ASCII that is neither a control character nor the space.
    package var isVisibleASCII: Bool { (0x21...0x7E).contains(self) }

    /// Whether the byte occurs in DNS names in practice.
    package var isLabelByte: Bool { isAlphanumeric || self == UInt8(ascii: "-") || self == UInt8(ascii: "_") }

    /// RFC 3986, 2.3.
    package var isUnreserved: Bool { isLabelByte || self == UInt8(ascii: ".") || self == UInt8(ascii: "~") }

    /// Whether the byte may occur in user information (RFC 3986, 3.2.1); escapes are checked elsewhere.
    var mayStandInUserInfo: Bool {
        switch self {
        case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&")...UInt8(ascii: ","), UInt8(ascii: ";"),
            UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: "%"):
            true
        default: isUnreserved
        }
    }

    /// Whether the byte is anything but a control character, a space, or a backslash, which browsers treat as a slash.
    var mayStandInURL: Bool { self > 0x20 && self != 0x7F && self != UInt8(ascii: "\\") }

    var endsAuthority: Bool { self == UInt8(ascii: "/") || self == UInt8(ascii: "?") || self == UInt8(ascii: "#") }
}

extension [UInt8] {
    /// The bytes with their escapes decoded; a `%` that begins no escape stands for itself.
    var decodedOnce: [UInt8] { unescaped.map(\.byte) }

    /// The same, with each byte's origin.
    fileprivate var unescaped: [(byte: UInt8, isEscaped: Bool)] {
        var bytes: [(byte: UInt8, isEscaped: Bool)] = []
        var rest = self[...]
        while let byte = rest.popFirst() {
            let value = byte == UInt8(ascii: "%") ? rest.escapedByte : nil
            bytes.append((value ?? byte, value != nil))
            if value != nil { rest = rest.dropFirst(2) }
        }
        return bytes
    }
}

extension ArraySlice<UInt8> {
    /// Whether they begin with an escape that a decoded path may have: of `/`, `?`, `#` or `%`.
    fileprivate var isKeptEscape: Bool {
        guard first == UInt8(ascii: "%"), let byte = dropFirst().escapedByte else { return false }
        return "/?#%".utf8.contains(byte)
    }
}

extension Collection<UInt8> {
    /// The value of the two hexadecimal digits at the beginning; nil if there are none.
    fileprivate var escapedByte: UInt8? {
        let digits = prefix(2)
        guard digits.count == 2, digits.allSatisfy(\.isHexadecimal) else { return nil }
        return UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    /// Whether each `%` is followed by two hexadecimal digits.
    var hasOnlyWholeEscapes: Bool {
        indices.allSatisfy { self[$0] != UInt8(ascii: "%") || self[index(after: $0)...].escapedByte != nil }
    }
}
