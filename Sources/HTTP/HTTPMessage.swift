import Addresses
package import Secrets

/// A request, which is sent as it is: nothing is added but what HTTP itself needs.
package struct HTTPRequest: Sendable {
    /// The method (RFC 9110, 9).
    package var method: String
    /// An absolute URL without a user; `https`, or `http` if the client allows it.
    package var url: String
    /// The header fields in their order; any value may be secret.
    package var headers: [(name: String, value: Secret)]
    /// The content; nil for none.
    package var body: [UInt8]?

    /// Creates a request.
    package init(_ method: String, _ url: String, headers: [(name: String, value: Secret)] = [], body: [UInt8]? = nil) {
        (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
    }
}

/// A complete answer, whatever its status: no redirect is followed.
package struct HTTPAnswer: Sendable, Equatable {
    /// A header field.
    package struct Field: Sendable, Equatable {
        /// In lower case.
        package let name: String
        /// Without white space around it.
        package let value: String

        /// Creates a field.
        package init(name: String, value: String) { (self.name, self.value) = (name, value) }
    }

    /// The status, from 200.
    package let status: Int
    /// The header fields in their order.
    package let headers: [Field]
    /// The content, as it was sent.
    package let body: [UInt8]

    /// Creates an answer.
    package init(status: Int, headers: [Field] = [], body: [UInt8]) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }

    /// The first value of a header field with this name, in lower case; nil if there is none.
    package func first(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    /// The value of a header field with this name, in lower case; nil if it is missing or repeated.
    package func only(_ name: String) -> String? {
        let values = headers.filter { $0.name == name }
        return values.count == 1 ? values[0].value : nil
    }
}

/// The heads of an answer, line by line; the last one counts, and no trailer.
struct HTTPHead {
    /// The status of the last head; nil before the first.
    private(set) var status: Int?
    private(set) var fields: [HTTPAnswer.Field] = []
    /// Whether the last head has its empty line.
    private(set) var isComplete = false
    /// The bytes of all heads, and of the trailer.
    private(set) var size = 0

    /// Adds a line with its end.
    mutating func add(_ line: UnsafeRawBufferPointer) {
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
