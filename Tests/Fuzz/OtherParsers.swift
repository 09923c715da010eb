// Parsers that imitate other programs', written bytewise and independently of lanyard's: every disagreement is a
// finding.

/// A URL parsed as in curl, git and Python or, with backslashes for slashes, as in browsers and node.
struct OtherURL {
    let scheme: [UInt8]
    /// The host in lower case, with escapes decoded, without brackets.
    let host: [UInt8]
    /// The port, unchanged; empty if there is none.
    let port: [UInt8]

    init?(_ url: [UInt8], asBrowsers: Bool) {
        guard let colon = url.firstIndex(of: UInt8(ascii: ":")), url[(colon + 1)...].starts(with: "//".utf8) else {
            return nil
        }
        scheme = Array(url[..<colon]).lowercasedASCII
        let ends = asBrowsers ? Array("/?#\\".utf8) : Array("/?#".utf8)
        let authority = url[(colon + 3)...].prefix { !ends.contains($0) }
        let place = authority.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false).last ?? []
        if place.first == UInt8(ascii: "["), let close = place.firstIndex(of: UInt8(ascii: "]")) {
            host = Array(place[..<close].dropFirst()).lowercasedASCII
            port = Array(place[close...].dropFirst(2))
        } else {
            let name = place.prefix { $0 != UInt8(ascii: ":") }
            host = Array(name).percentDecoded.lowercasedASCII
            port = Array(place[name.endIndex...].dropFirst())
        }
    }
}

/// A shell's parsing of a line into words, without a history and in a folder without files.
enum OtherShell {
    /// Returns the words; nil if a quote stays open, or if anything in the line isn't plain text to the shell.
    ///
    /// In an interactive shell, `!` refers to the history.
    static func words(_ line: [UInt8], isInteractive: Bool) -> [[UInt8]]? {
        var words: [[UInt8]] = []
        var word: [UInt8]?
        var index = 0
        while index < line.count {
            let byte = line[index]
            index += 1
            switch byte {
            case UInt8(ascii: "'"):
                guard let end = line[index...].firstIndex(of: UInt8(ascii: "'")) else { return nil }
                word = (word ?? []) + line[index..<end]
                index = end + 1
            case UInt8(ascii: "\""):
                guard let (text, end) = doublyQuoted(line, from: index, isInteractive: isInteractive) else {
                    return nil
                }
                word = (word ?? []) + text
                index = end
            case UInt8(ascii: "\\"):
                guard index < line.count else { return nil }
                // A line continuation is removed.
                if line[index] != UInt8(ascii: "\n") { word = (word ?? []) + [line[index]] }
                index += 1
            case UInt8(ascii: " "), UInt8(ascii: "\t"):
                if let word { words.append(word) }
                word = nil
            default:
                if means(byte, atStart: word == nil, isInteractive: isInteractive) { return nil }
                word = (word ?? []) + [byte]
            }
        }
        if let word { words.append(word) }
        return words
    }

    private static func doublyQuoted(_ line: [UInt8], from start: Int, isInteractive: Bool) -> ([UInt8], Int)? {
        var text: [UInt8] = []
        var index = start
        while index < line.count {
            let byte = line[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return (text, index)
            case UInt8(ascii: "$"), UInt8(ascii: "`"): return nil
            case UInt8(ascii: "!") where isInteractive: return nil
            case UInt8(ascii: "\\"):
                guard index < line.count else { return nil }
                if !Array("$`\"\\\n".utf8).contains(line[index]) { text.append(byte) }
                if line[index] != UInt8(ascii: "\n") { text.append(line[index]) }
                index += 1
            default: text.append(byte)
            }
        }
        return nil
    }

    /// Whether a byte outside quotes has a special meaning: an operator, an expansion, a pattern, a comment, a history
    /// reference.
    private static func means(_ byte: UInt8, atStart: Bool, isInteractive: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "~"), UInt8(ascii: "#"): atStart
        case UInt8(ascii: "!"), UInt8(ascii: "^"): isInteractive
        default: Array("|&;()<>$`*?[]{}\n".utf8).contains(byte)
        }
    }
}

/// Returns a form's fields (application/x-www-form-urlencoded) in order, as a browser reads them.
func otherForm(_ bytes: [UInt8]) -> [(name: [UInt8], value: [UInt8])] {
    bytes.parts(UInt8(ascii: "&")).filter { !$0.isEmpty }.map { pair in
        let halves = pair.parts(UInt8(ascii: "="), atMost: 2)
            .map { $0.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }.percentDecoded }
        return (halves[0], halves.count == 2 ? halves[1] : [])
    }
}
