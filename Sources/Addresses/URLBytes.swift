// The classes of bytes in RFC 3986.

extension UInt8 {
    package var isLetter: Bool { (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) }
    package var isDigit: Bool { (0x30...0x39).contains(self) }
    package var isAlphanumeric: Bool { isLetter || isDigit }
    package var isHexadecimal: Bool { isDigit || (0x41...0x46).contains(self) || (0x61...0x66).contains(self) }

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

extension StringProtocol {
    /// Whether it has a C0 control character or DEL, which no URL that git can parse contains.
    @inlinable package var hasControlCharacter: Bool { utf8.contains { $0 < 0x20 || $0 == 0x7F } }
}
