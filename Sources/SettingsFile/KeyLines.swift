import Synchronization

/// Where the keys and tables of a file stand: the TOML parser tells positions of its own errors only.
///
/// Keys are looked for when the first is asked for, which takes an error.
final class KeyLines: Sendable {
    /// One step down from the file's own table.
    enum Step: Hashable, Sendable {
        /// Into the value of a key.
        case key(String)
        /// Into an element of an array, counted from 0.
        case element(Int)
    }

    private let text: String
    private let tables: [[Step]: Int]
    private let keys = Mutex<[[Step]: Int]?>(nil)

    /// Takes the text, and the lines of its tables with a header.
    init(_ text: String, tables: [[Step]: Int]) {
        self.text = text
        self.tables = tables
    }

    /// The line (from 1) that sets the key of a table; the table's own where that can't be told, nil for the file's.
    func line(of key: String?, in table: [Step]) -> Int? {
        guard !table.isEmpty || key != nil else { return nil }
        if key == nil, let line = tables[table] { return line }
        let lines = keys.withLock { keys in
            if let keys { return keys }
            var scanner = KeyScanner(text, notesKeys: true)
            scanner.scan()
            keys = scanner.lines
            return scanner.lines
        }
        if let key, let line = lines[table + [.key(key)]] { return line }
        return lines[table]
    }
}
