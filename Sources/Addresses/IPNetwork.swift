import Glibc

/// An IP address, or all that begin with the same bits: `10.0.0.0/8`, `fd00::/8`, `::1`, `[::1]`.
package struct IPNetwork: Sendable {
    private let bytes: [UInt8]
    private let bits: Int

    /// Parses a network; nil if the text is none.
    package init?(_ text: String) {
        let (place, mask) = text.cut(at: "/") ?? (text[...], "")
        let name = place.trimmed(of: "[]")
        guard let bytes = IPNetwork.bytes(of: name, AF_INET, 4) ?? IPNetwork.bytes(of: name, AF_INET6, 16),
            let bits = mask.isEmpty ? bytes.count * 8 : Int(mask), (0...bytes.count * 8).contains(bits)
        else { return nil }
        (self.bytes, self.bits) = (bytes, bits)
    }

    /// Whether an address, or all of a network's, are among these.
    package func contains(_ other: IPNetwork) -> Bool {
        guard bytes.count == other.bytes.count, other.bits >= bits else { return false }
        return zip(bytes, other.bytes).enumerated().allSatisfy { index, pair in
            let shift = min(max(8 - (bits - index * 8), 0), 8)
            return UInt16(pair.0) >> shift == UInt16(pair.1) >> shift
        }
    }
}

// Addresses, but only in forms that all programs interpret alike.
extension IPNetwork {
    /// Whether the text is four decimal numbers without leading zeros.
    static func isV4(_ text: Substring) -> Bool {
        bytes(of: text, AF_INET, 4) != nil
    }

    /// Returns an IPv6 address in lower case, with its zone after a `%`; nil if the text isn't one.
    ///
    /// `zoneMark` separates the zone in the text: `%`, or `%25` in a URL.
    static func v6(_ text: Substring, zoneMark: String) -> String? {
        guard let percent = text.utf8.firstIndex(of: UInt8(ascii: "%")) else {
            return bytes(of: text, AF_INET6, 16) == nil ? nil : text.lowercased()
        }
        let marked = text.utf8[percent...]
        let zone = marked.dropFirst(zoneMark.utf8.count)
        guard marked.starts(with: zoneMark.utf8), (1...32).contains(zone.count),
            zone.allSatisfy(\.isUnreserved), bytes(of: text[..<percent], AF_INET6, 16) != nil
        else { return nil }
        return "\(text[..<percent].lowercased())%\(Substring(zone))"
    }

    /// Returns the bytes of an address of a family, which has this many; nil if the text isn't one.
    static func bytes(of text: Substring, _ family: Int32, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return !text.utf8.contains(0) && inet_pton(family, String(text), &bytes) == 1 ? bytes : nil
    }
}
