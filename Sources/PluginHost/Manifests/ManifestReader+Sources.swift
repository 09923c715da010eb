import Addresses
import PluginWire
import SettingsFile
import Terminal

extension ManifestReader {
    /// Reads a `[[source]]`.
    func source(_ table: SettingsTable) throws(SettingsError) -> PluginSource {
        var row = PluginSourceRow()
        row.program = try table.list("program", .text(4096))
        row.secret = try table.list("secret", .place)
        row.username = try table.list("username", .place)
        row.asks = try table.text("asks", .text(256))
        row.unlock = try table.text("unlock", .text(1024))
        for (key, texts) in [("program", row.program), ("asks", [row.asks ?? ""]), ("unlock", [row.unlock ?? ""])] {
            for (index, text) in texts.enumerated() {
                guard let name = text.strangePlaceholder else { continue }
                let near = String.placeholders.nearest(to: name)
                throw table.error(
                    key, element: index, "`\(key)` holds {\(name)}, which stands for nothing",
                    hint: near.map { "did you mean {\($0)}?" }
                        ?? "write {\(String.placeholders.joined(separator: "}, {"))}, or move it into a script")
            }
        }
        let keepFor = try table.integer("keep-for")
        if let keepFor, !(0...86_400).contains(keepFor) {
            throw table.error("keep-for", "`keep-for` must be 0 to 86400 seconds")
        }
        return PluginSource(
            name: try table.requiredText("name", .pluginName), row: row, kinds: try table.list("kinds", .pluginName),
            keepFor: keepFor)
    }
}

extension String {
    /// What stands for a part of the request, in braces.
    fileprivate static let placeholders = ["host", "reference", "first", "rest"]

    /// The first word in braces that stands for nothing, but isn't a shell's variable; nil if there is none.
    fileprivate var strangePlaceholder: String? {
        let pieces = pieces(between: "{", omittingEmpty: false)
        for (before, piece) in zip(pieces, pieces.dropFirst()) {
            guard before.utf8.last != UInt8(ascii: "$"), let name = piece.cut(at: "}").map({ String($0.0) }) else {
                continue
            }
            let isWord = !name.isEmpty && name.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
            if isWord, !Self.placeholders.contains(name) { return name }
        }
        return nil
    }
}
