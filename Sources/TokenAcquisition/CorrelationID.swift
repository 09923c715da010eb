import Addresses

/// A random UUID (RFC 9562, version 4) that identifies one exchange in an authority's logs.
enum CorrelationID {
    static func make() -> String {
        var bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let groups = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16]
        return groups.map { bytes[$0].hexadecimal }.joined(separator: "-")
    }
}
