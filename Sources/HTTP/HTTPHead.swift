import Addresses

/// The heads of an answer, line by line; the last one counts, and no trailer.
struct HTTPHead {
    /// The status of the last head; nil before the first.
    private(set) var status: Int?
    private(set) var fields: [HTTPAnswer.Field] = []
    /// Whether the last head has its empty line.
    private(set) var isComplete = false
    /// The bytes of all heads, and of the trailer.
    private(set) var size = 0

    /// Takes a line with its end.
    mutating func take(_ line: UnsafeRawBufferPointer) {
        size += line.count
        let text = line.prefix { $0 != 0x0D && $0 != 0x0A }
        if isComplete, status.map({ $0 >= 200 }) == true { return }
        if text.isEmpty {
            isComplete = true
        } else if status == nil || isComplete, text.starts(with: "HTTP/".utf8) {
            // A provisional one may have come before.
            isComplete = false
            let words = text.split(separator: UInt8(ascii: " "), maxSplits: 2)
            status = words.count > 1 ? Int(String(decoding: words[1], as: UTF8.self)) : nil
            fields = []
        } else if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
            let name = String(decoding: text[..<colon], as: UTF8.self).lowercased()
            let value = String(decoding: text[text.index(after: colon)...], as: UTF8.self).trimmed()
            fields.append(HTTPAnswer.Field(name: name, value: String(value)))
        }
    }
}
