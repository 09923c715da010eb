extension Sequence<UInt8> {
    /// The bytes as two lower-case digits each.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        // An array, because Swift would look up at run time how to read a generic sequence, which takes long.
        return String(decoding: Array(self).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

extension StringProtocol {
    /// Whether this has the form of a UUID (RFC 9562, 4), in either case.
    package var isUUID: Bool {
        let groups = pieces(between: "-", omittingEmpty: false)
        return groups.map(\.utf8.count) == [8, 4, 4, 4, 12] && groups.allSatisfy { $0.utf8.allSatisfy(\.isHexadecimal) }
    }

    /// What equal IDs of clients have in common: Entra's, which are UUIDs, have no case, and all others do.
    public var clientKey: String { isUUID ? lowercased() : String(self) }
}
