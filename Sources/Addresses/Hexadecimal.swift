extension Sequence<UInt8> {
    /// Two lower-case digits for each byte.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

extension StringProtocol {
    /// Whether this has a UUID's form (RFC 9562, 4), in either case.
    package var isUUID: Bool {
        let groups = pieces(between: "-", omittingEmpty: false)
        return groups.map(\.utf8.count) == [8, 4, 4, 4, 12] && groups.allSatisfy { $0.utf8.allSatisfy(\.isHexadecimal) }
    }
}
