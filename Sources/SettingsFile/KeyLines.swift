import Synchronization

/// The positions of the keys and tables in a file; the TOML parser only reports those of its own errors.
///
/// Keys are scanned when a position is first needed, which only happens for an error.
final class KeyLines: Sendable {
    /// One step from the top-level table downwards.
    enum Step: Hashable, Sendable {
        /// Into the value of a key.
        case key(String)
        /// Into an element of an array, counted from 0.
        case element(Int)
    }

    private let text: String
    private let headers: [KeyScanner.Header]
    private let keys = Mutex<Lines?>(nil)

    /// Creates the positions from the text and the headers of its tables.
    init(_ text: String, headers: [KeyScanner.Header]) {
        self.text = text
        self.headers = headers
    }

    /// Returns the line (from 1) that sets a key of a table; the table's line if that isn't known, nil for the
    /// top-level table.
    func line(of key: String?, in table: [Step]) -> Int? {
        guard !table.isEmpty || key != nil else { return nil }
        if key == nil, let line = line(ofHeader: table) { return line }
        let lines = keys.withLock { keys in
            if let keys { return keys }
            let found = Lines(of: text)
            keys = found
            return found
        }.lines
        if let key, let line = lines[table + [.key(key)]] { return line }
        return lines[table]
    }

    /// Returns the line of `[name]`, or of the header of an element of `[[name]]`; nil for tables at deeper levels.
    private func line(ofHeader table: [Step]) -> Int? {
        guard case .key(let name)? = table.first else { return nil }
        let named = headers.filter { $0.names == [name] }
        guard let step = table.dropFirst().first else { return named.first { !$0.isElement }?.line }
        guard table.count == 2, case .element(let index) = step else { return nil }
        return named.filter(\.isElement).dropFirst(index).first?.line
    }
}

/// The lines of every key.
///
/// A class, because destroying an unused dictionary takes the runtime as long as reading a file.
private final class Lines: Sendable {
    let lines: [[KeyLines.Step]: Int]

    init(of text: String) {
        var scanner = KeyScanner(text, notesLines: true)
        scanner.scan()
        lines = scanner.lines
    }
}
