import Glibc
import SettingsFile
import Terminal

@testable import PluginHost
@testable import Rules
@testable import SettingsFile

extension FuzzTarget {
    /// A configuration file: it is parsed, and its rules are edited without changing anything else.
    static let config = FuzzTarget("config") { input in
        guard let text = input.text else { return }
        for isSystem in [false, true] {
            do throws(SettingsError) {
                var configuration = Configuration()
                try configuration.apply(SettingsTable(file: "/config.toml", text: text), isSystem: isSystem)
            } catch {
                try requireShowable([error.message.text, error.hint?.text])
            }
        }
        try requireOthersStay(text)
        try requireEdits(text)
    }

    /// A plugin's manifest.
    static let manifest = FuzzTarget("manifest") { input in
        guard let text = input.text else { return }
        let read = Result { () throws(SettingsError) in
            try ManifestReader(text, file: "/plugin.toml").read().manifest
        }
        switch read {
        case .success(let manifest): try requireManifest(manifest)
        case .failure(let problem): try requireShowable([problem.message.text, problem.hint?.text])
        }
    }

    private static func requireManifest(_ manifest: PluginManifest) throws {
        let isName: (String) -> Bool = { $0.utf8.allSatisfy { byte in byte > 0x20 && byte < 0x7F } }
        try require(isName(manifest.name) && !manifest.name.contains("/"), "a name that is a path")
        let hosts = manifest.authorities.flatMap(\.hosts) + manifest.environments.flatMap(\.self)
        try require(
            hosts.allSatisfy { isName($0) && $0 == $0.lowercased() && !$0.contains("/") }, "a host that is none")
    }

    private static func requireShowable(_ texts: [String?]) throws {
        for text in texts.compactMap(\.self) {
            try require(text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "an error with control characters: \(text)")
        }
    }

    /// Requires that removing or inserting blocks doesn't change the other lines.
    private static func requireOthersStay(_ text: String) throws {
        guard let blocks = accepted({ try TableBlocks(of: "rule", file: "/config.toml", text: text) }) else { return }
        let added = blocks.appending("[[rule]]\nurl = \"https://x.example\"\n")
        try require(added.utf8.starts(with: text.utf8), "what stood there is another once a table is added")
        let rows = Array(text.utf8).parts(UInt8(ascii: "\n"))
        for (index, block) in blocks.lines.enumerated() {
            let kept = (rows[..<block.lowerBound] + rows[block.upperBound...]).filter { !isBlank($0) }
            let left = Array(blocks.removing(index).utf8).parts(UInt8(ascii: "\n")).filter { !isBlank($0) }
            try require(kept == left, "what stands around a table is another once it is removed")
        }
    }

    /// Requires that adding and removing a rule leaves a file unchanged.
    private static func requireEdits(_ text: String) throws {
        let path = "/dev/shm/lanyard-fuzz-\(getpid()).toml"
        defer { unlink(path) }
        guard write(text, to: path), let pattern = URLPattern("https://fuzz.example/added") else { return }
        let rule = Rule(pattern: pattern, authority: "https://login.example/x", scopes: ["a/.default"])
        guard let file = accepted({ try TableFile<Rule>(reading: path) }),
            !file.tables.contains(where: { $0.pattern.means(pattern) }),
            accepted({ try file.add(rule, schema: nil) }) != nil
        else { return }
        let added = try TableFile<Rule>(reading: path)
        try require(added.tables.count == file.tables.count + 1, "a rule that was added isn't there")
        let stored = try SettingsText(reading: path).text ?? ""
        try require(stored.utf8.starts(with: text.utf8), "a rule that was added changed what stood there")
        guard let last = added.tables.last, accepted({ try added.remove(last) }) != nil else { return }
        let after = Array((try SettingsText(reading: path).text ?? "").utf8)
        try require(trimmed(after) == trimmed(Array(text.utf8)), "a rule that came and went leaves the file changed")
    }

    private static func write(_ text: String, to path: String) -> Bool {
        guard let file = fopen(path, "w") else { return false }
        let bytes = Array(text.utf8)
        let count = fwrite(bytes, 1, bytes.count, file)
        return fclose(file) == 0 && count == bytes.count
    }

    private static func isBlank(_ row: [UInt8]) -> Bool { row.allSatisfy { [0x20, 0x09, 0x0D].contains($0) } }

    /// Returns the bytes without the blank lines at the end.
    private static func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        var rest = bytes[...]
        while let last = rest.last, [0x20, 0x09, 0x0D, 0x0A].contains(last) { rest.removeLast() }
        return rest
    }
}
