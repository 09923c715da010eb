import Synchronization

/// Where the keys and tables of a file stand: the TOML parser tells positions of its own errors only.
///
/// They are looked for when the first is asked for, which for most files takes an error.
final class KeyLines: Sendable {
    /// One step down from the file's own table.
    enum Step: Hashable, Sendable {
        /// Into the value of a key.
        case key(String)
        /// Into an element of an array, counted from 0.
        case element(Int)
    }

    private let text: String
    private let tables = Mutex<[[Step]: Int]?>(nil)
    private let keys = Mutex<[[Step]: Int]?>(nil)

    /// Takes the text, in which the scanner found no fault.
    init(_ text: String) { self.text = text }

    /// The line (from 1) that sets the key of a table; the table's own where that can't be told, nil for the file's.
    func line(of key: String?, in table: [Step]) -> Int? {
        guard !table.isEmpty || key != nil else { return nil }
        if key == nil, let line = lines(of: .tables, keptIn: tables)[table] { return line }
        let lines = lines(of: .keys, keptIn: keys)
        if let key, let line = lines[table + [.key(key)]] { return line }
        return lines[table]
    }

    private func lines(of wanted: KeyScanner.Wanted, keptIn kept: borrowing Mutex<[[Step]: Int]?>) -> [[Step]: Int] {
        kept.withLock { kept in
            if let kept { return kept }
            var scanner = KeyScanner(text, wanted)
            scanner.scan()
            kept = scanner.lines
            return scanner.lines
        }
    }
}
