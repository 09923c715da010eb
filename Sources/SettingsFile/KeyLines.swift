/// Where the keys and tables of a file stand: the TOML parser tells positions of its own errors only.
struct KeyLines: Sendable {
    /// One step down from the file's own table.
    enum Step: Hashable, Sendable {
        /// Into the value of a key.
        case key(String)
        /// Into an element of an array, counted from 0.
        case element(Int)
    }

    private let lines: [[Step]: Int]

    init(_ lines: [[Step]: Int]) {
        self.lines = lines
    }

    /// The line (from 1) that sets the key of a table; the table's own where that can't be told, nil for the file's.
    func line(of key: String?, in table: [Step]) -> Int? {
        if let key, let line = lines[table + [.key(key)]] { return line }
        return lines[table]
    }
}
