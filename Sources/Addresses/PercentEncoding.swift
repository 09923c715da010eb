extension StringProtocol {
    /// The text with its escapes decoded (RFC 3986, 2.1); nil if one is malformed or the bytes aren't UTF-8.
    public var percentDecoded: String? { percentDecoded(keepingStrays: false) }

    /// Decodes as curl does: a `%` that begins no escape stands for itself; nil if the bytes aren't UTF-8.
    var percentDecodedAsByCurl: String? { percentDecoded(keepingStrays: true) }

    private func percentDecoded(keepingStrays: Bool) -> String? {
        var bytes: [UInt8] = []
        // An array, because Swift would look up at run time how to read a generic sequence, which takes long.
        var rest = Array(utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = rest.escapedByte {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else if byte != UInt8(ascii: "%") || keepingStrays {
                bytes.append(byte)
            } else {
                return nil
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// A decoded path from git, encoded so that `StrictURL` reads it back; a query after it stays a query.
    public var percentEncodedPath: String {
        percentEncoded { $0.mayStandInURL && $0 != UInt8(ascii: "%") }
    }

    /// The text with all characters escaped that RFC 3986 doesn't call unreserved; a space thus becomes `%20`, which
    /// queries and forms accept.
    package var percentEncoded: String { percentEncoded(unless: \.isUnreserved) }

    private func percentEncoded(unless mayStand: (UInt8) -> Bool) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = utf8.flatMap { byte in
            mayStand(byte) ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: bytes, as: UTF8.self)
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
