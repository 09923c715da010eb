import Addresses

/// `application/x-www-form-urlencoded`, as query strings and form bodies carry it.
package enum FormEncoding {
    /// A name and its value, neither escaped.
    package typealias Field = (name: String, value: String)

    /// Escapes all but RFC 3986's unreserved characters; a space becomes `%20`, which both query and form take.
    package static func encode(_ fields: [Field]) -> String {
        fields.map { "\(escape($0.name))=\(escape($0.value))" }.joined(separator: "&")
    }

    /// Appends fields to a URL that may have a query already.
    package static func append(_ fields: [Field], to url: String) -> String {
        fields.isEmpty ? url : url + (url.hasBytes("?") ? "&" : "?") + encode(fields)
    }

    /// Reads fields; of a name that occurs twice nothing is kept (RFC 6749, 3.1), nor of one that is not UTF-8.
    package static func decode(_ text: Substring) -> [String: String] {
        var fields: [String: String] = [:]
        var repeated: Set<String> = []
        for pair in text.pieces(between: "&", maxSplits: 64) {
            let halves = pair.pieces(between: "=", maxSplits: 1, omittingEmpty: false)
            guard let name = halves.first.flatMap(unescape), let value = unescape(halves.count == 2 ? halves[1] : "")
            else { continue }
            if fields.updateValue(value, forKey: name) != nil { repeated.insert(name) }
        }
        return fields.filter { !repeated.contains($0.key) }
    }

    private static func escape(_ text: String) -> String {
        var escaped = ""
        for byte in text.utf8 {
            if isUnreserved(byte) {
                escaped.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                escaped += byte < 16 ? "%0" : "%"
                escaped += String(byte, radix: 16, uppercase: true)
            }
        }
        return escaped
    }

    private static func unescape(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "+") {
                bytes.append(UInt8(ascii: " "))
            } else if byte == UInt8(ascii: "%") {
                guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
                else { return nil }
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
