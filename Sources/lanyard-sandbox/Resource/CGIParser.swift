import Addresses
import HTTPTypes
import NIOCore

/// The head of a CGI response (RFC 3875, 6.3).
struct CGIHead: Sendable {
    var status = HTTPResponse.Status.ok
    var headers: HTTPFields = [:]

    init(_ text: some StringProtocol) {
        for line in text.split(whereSeparator: \.isNewline) {
            guard let (name, rest) = line.cut(at: ":") else { continue }
            let value = rest.drop { $0 == " " }
            if name.lowercased() == "status" {
                status = .init(code: Int(value.prefix { $0 != " " }) ?? 500)
            } else if let name = HTTPField.Name(String(name)) {
                headers.append(HTTPField(name: name, value: String(value)))
            }
        }
    }
}

/// Separates the head from a CGI program's output.
struct CGIParser {
    private static let longestHead = 64 * 1024

    private var pending = ByteBuffer()
    private var isPastHead = false

    /// Takes a chunk and returns the part that belongs to the body; nil until the head is complete.
    mutating func take(_ chunk: ByteBuffer, head: AsyncStream<CGIHead>.Continuation) -> ByteBuffer? {
        if isPastHead { return chunk }
        pending.writeImmutableBuffer(chunk)
        let bytes = pending.readableBytesView
        guard let end = Self.endOfHead(in: bytes) else {
            if bytes.count > Self.longestHead { head.finish() }
            return nil
        }
        isPastHead = true
        head.yield(CGIHead(String(decoding: bytes[..<end], as: UTF8.self)))
        return ByteBuffer(bytes: bytes[end...])
    }

    private static func endOfHead(in bytes: ByteBufferView) -> Int? {
        var lineStart = bytes.startIndex
        while let newline = bytes[lineStart...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = bytes[lineStart..<newline]
            if line.isEmpty || line.elementsEqual([UInt8(ascii: "\r")]) { return newline + 1 }
            lineStart = newline + 1
        }
        return nil
    }
}
