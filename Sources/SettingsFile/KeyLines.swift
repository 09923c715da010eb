/// Where the keys of one table stand in a file: the TOML parser tells positions of its own errors only.
struct KeyLines: Sendable {
    private let lines: [Substring]
    /// The indices of this table's lines, its header among them.
    private let range: Range<Int>

    init(text: String) {
        let all = text.split(separator: "\n", omittingEmptySubsequences: false)
        lines = all
        range = 0..<(all.firstIndex(where: Self.isHeader) ?? all.count)
    }

    private init(lines: [Substring], range: Range<Int>) {
        self.lines = lines
        self.range = range
    }

    /// The lines of the header's table; of the nth where the header repeats.
    func section(_ header: String, occurrence: Int) -> KeyLines {
        let starts = lines.indices.filter { Self.bare(lines[$0]).hasPrefix(header) }
        guard occurrence < starts.count else { return KeyLines(lines: lines, range: 0..<0) }
        let start = starts[occurrence]
        let end = lines[(start + 1)...].firstIndex(where: Self.isHeader) ?? lines.count
        return KeyLines(lines: lines, range: start..<end)
    }

    /// The line (from 1) that sets the key; the table's first where it can't be told, nil where that is unknown too.
    func line(of key: String?) -> Int? {
        guard let key else { return first }
        let own = ["\(key)=", "\"\(key)\"=", "\(key)."]
        if let line = range.first(where: { index in own.contains(where: Self.bare(lines[index]).hasPrefix) }) {
            return line + 1
        }
        let headers = ["[\(key)]", "[[\(key)]]"]
        let header = lines.firstIndex { line in headers.contains(where: Self.bare(line).hasPrefix) }
        return header.map { $0 + 1 } ?? first
    }

    private var first: Int? { range.isEmpty ? nil : range.lowerBound + 1 }

    private static func bare(_ line: Substring) -> String {
        String(line.filter { $0 != " " && $0 != "\t" && $0 != "\r" })
    }

    private static func isHeader(_ line: Substring) -> Bool {
        bare(line).hasPrefix("[")
    }
}
