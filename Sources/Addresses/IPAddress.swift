import Glibc

/// Parses IP addresses, but only in forms that all programs interpret alike.
enum IPAddress {
    /// Whether the text is four decimal numbers without leading zeros.
    static func isV4(_ text: Substring) -> Bool {
        isAddress(text, family: AF_INET)
    }

    /// Returns an IPv6 address in lower case, with its zone after a `%`; nil if the text isn't one.
    ///
    /// `zoneMark` separates the zone in the text: `%`, or `%25` in a URL.
    static func v6(_ text: Substring, zoneMark: String) -> String? {
        guard let percent = text.utf8.firstIndex(of: UInt8(ascii: "%")) else {
            return isAddress(text, family: AF_INET6) ? text.lowercased() : nil
        }
        let marked = text.utf8[percent...]
        let zone = marked.dropFirst(zoneMark.utf8.count)
        guard marked.starts(with: zoneMark.utf8), (1...32).contains(zone.count),
            zone.allSatisfy(\.isUnreserved), isAddress(text[..<percent], family: AF_INET6)
        else { return nil }
        return "\(text[..<percent].lowercased())%\(Substring(zone))"
    }

    private static func isAddress(_ text: Substring, family: Int32) -> Bool {
        var address = in6_addr()
        return !text.utf8.contains(0) && inet_pton(family, String(text), &address) == 1
    }
}
