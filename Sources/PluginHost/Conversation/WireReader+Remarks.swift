import Addresses
package import PluginWire
import Secrets
import SettingsFile
import Terminal

/// What is odd about a message that can nevertheless be read.
extension WireReader {
    /// A remark on each key that nobody read, but that may be meant for one that somebody did, or is no key at all.
    package var remarks: [String] {
        let synonyms = ["user": "username", "login": "username", "password": "secret", "pass": "secret"]
        let pairs = known.map { ($0.loose, $0) } + synonyms.filter { known.contains($0.value) }
        let names = Dictionary(pairs) { first, _ in first }
        return block.lines.filter { !known.contains($0.key) && $0.key.utf8.count <= 128 }.compactMap { line in
            let (shown, loose) = (line.key.displayable(limit: 64), line.key.loose)
            let slip = names.keys.sorted().first { $0.utf8.count > 2 && $0.editDistance(to: loose) == 1 }
            if let near = names[loose] ?? slip.flatMap({ names[$0] }) {
                return "its key `\(shown)` is unknown; did it mean `\(near)`?"
            }
            return loose.utf8.allSatisfy(\.isAlphanumeric)
                ? nil : "its line begins with `\(shown)=`, which is no key; is it for standard error?"
        }
    }

    /// Remarks on a message; of a result, nobody has read the keys yet.
    func remarks(on message: PluginMessage) -> [String] {
        switch message {
        case .result: return []
        case .event, .unknown: return remarks
        case .error:
            let codes = block["code"].map { [$0] } ?? []
            return remarks + Self.remarks("code", codes, PluginError.Code.allCases.map(\.rawValue))
                + Self.remarks("reason", block.list("reason[]"), PluginError.Reason.allCases.map(\.rawValue))
        }
    }

    private static func remarks(_ what: String, _ words: [String], _ known: [String]) -> [String] {
        words.filter { !known.contains($0) }.map { word in
            let near = known.nearest(to: word.lowercased()).map { "did it mean `\($0)`?" }
            return "its \(what) `\(word.displayable(limit: 64))` is unknown; "
                + (near ?? "there are \(known.joined(separator: ", "))")
        }
    }
}

extension String {
    /// A key as it may be misspelt: without capitals, blanks, `[]`, hyphens, `_` and a plural's `s`.
    fileprivate var loose: String {
        var text = String(lowercased().trimmed())
        if text.hasSuffix("[]") { text.removeLast(2) }
        if text.hasSuffix("s") { text.removeLast() }
        // Some editors begin a file with a byte order mark.
        if text.utf8.starts(with: "\u{FEFF}".utf8) { text.removeFirst() }
        return text.replacing(bytes: "-", with: "").replacing(bytes: "_", with: "")
    }
}
