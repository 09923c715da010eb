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
    private let headers: [KeyScanner.Header]
    private let keys = Mutex<Lines?>(nil)

    /// Takes the text, and the headers of its tables.
    init(_ text: String, headers: [KeyScanner.Header]) {
        self.text = text
        self.headers = headers
    }

    /// The line (from 1) that sets the key of a table; the table's own if that can't be told, nil for the file's.
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

    /// The line of `[name]`, or of the header of an element of `[[name]]`; nil for tables that are further down.
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
/// An object, for to leave a dictionary that was never made takes the runtime as long as to read a file.
private final class Lines: Sendable {
    let lines: [[KeyLines.Step]: Int]

    init(of text: String) {
        var scanner = KeyScanner(text, notesLines: true)
        scanner.scan()
        lines = scanner.lines
    }
}
