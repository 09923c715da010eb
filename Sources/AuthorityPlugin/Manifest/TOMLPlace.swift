/// Finds text that TOMLKit's parser must not see.
///
/// toml++ 3.4.0 takes for granted that a key follows the bracket of a table's header: `[` at the end of a line trips an
/// assertion, which in a release build is undefined behaviour. And a NUL would end the text early.
enum TOMLGuard {
    /// The first line, counted from 1, that isn't TOML in one of these ways; nil where all are fine.
    static func firstBadLine(of text: String) -> Int? {
        if text.utf8.starts(with: [0xEF, 0xBB, 0xBF]) { return 1 }
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return lines.firstIndex { $0.contains(0) || !hasKeyAfterBracket($0) }.map { $0 + 1 }
    }

    private static func hasKeyAfterBracket(_ line: Substring.UTF8View) -> Bool {
        var rest = line.drop(while: isBlank)
        guard rest.first == UInt8(ascii: "[") else { return true }
        rest = rest.dropFirst()
        if rest.first == UInt8(ascii: "[") { rest = rest.dropFirst() }
        guard let next = rest.first(where: { !isBlank($0) }) else { return false }
        switch next {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "\""),
            UInt8(ascii: "'"):
            return true
        default: return false
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }
}

/// Finds the line of a key in the text of a TOML file.
///
/// TOMLKit tells positions of syntax errors only, so this looks for the table's header and then for the key. It serves
/// messages only: where the file writes its tables in another way (inline, dotted), the nearest line above is given.
enum TOMLPlace {
    /// One `[[table]]` on the way down, by its place among its like.
    struct Step: Equatable {
        let table: String
        let index: Int
    }

    /// The line, counted from 1, or nil for the whole file.
    static func line(of key: String?, in place: [Step], of text: String) -> Int? {
        // A line feed after a carriage return is not a character of its own in Swift.
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        var header: Int?
        var start = lines.startIndex
        if let step = place.last {
            let headers = lines.indices.filter { words(lines[$0]).hasPrefix("[[\(step.table)]]") }
            guard step.index < headers.count else { return nil }
            header = headers[step.index] + 1
            start = headers[step.index] + 1
        }
        guard let key else { return header }
        for index in lines[start...].indices {
            let line = words(lines[index])
            if isKey(key, line) || line.hasPrefix("[\(key)]") || line.hasPrefix("[[\(key)]]") { return index + 1 }
            if !place.isEmpty, line.hasPrefix("[") { break }
        }
        return header
    }

    private static func isKey(_ key: String, _ line: String) -> Bool {
        line.hasPrefix(key + "=") || line.hasPrefix("\"\(key)\"=") || line.hasPrefix("'\(key)'=")
    }

    /// The line without blanks, which may stand almost anywhere in TOML.
    private static func words(_ line: Substring) -> String {
        String(line.filter { $0 != " " && $0 != "\t" && $0 != "\r" })
    }
}

/// Finds what somebody may have meant.
enum NearestName {
    /// The known name fewest edits away from this one, or nil where all are far.
    static func to(_ name: String, in known: [String]) -> String? {
        let ranked = known.map { (name: $0, edits: edits(Array(name.utf8.prefix(64)), Array($0.utf8))) }
        guard let best = ranked.min(by: { $0.edits < $1.edits }), best.edits <= max(2, best.name.count / 3) else {
            return nil
        }
        return best.name
    }

    /// Levenshtein's distance.
    private static func edits(_ one: [UInt8], _ other: [UInt8]) -> Int {
        var row = Array(0...other.count)
        for (i, byte) in one.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, against) in other.enumerated() {
                let replaced = diagonal + (byte == against ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, row[j] + 1, row[j + 1] + 1)
            }
        }
        return row.last ?? 0
    }
}
