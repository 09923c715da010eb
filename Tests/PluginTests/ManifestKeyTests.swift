import Foundation
import Testing

@testable import PluginHost

/// The keys of manifests: those that are read are those that docs/plugin-manifest.md explains and that some manifest needs.
@Suite struct ManifestKeyTests {
    private static let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func lines(_ file: String) throws -> [Substring] {
        try String(contentsOf: checkout.appendingPathComponent(file), encoding: .utf8).split(separator: "\n")
    }

    /// The keys that are read, as `table.key`, and those outside tables as `key`.
    private static let read = Set(
        ManifestReader.keys.flatMap { table, keys in keys.map { table.isEmpty ? $0 : "\(table).\($0)" } })

    @Test func `the page has each key that is read, and no other`() throws {
        var (documented, table) = (Set<String>(), "")
        for line in try Self.lines("docs/plugin-manifest.md") where line.hasPrefix("| ") {
            let cell = line.split(separator: "|")[0]
            let keys = cell.matches(of: #/`(\[\[)?([a-z-]+)(\]\])?`/#).map {
                (name: String($0.2), isTable: $0.1 != nil)
            }
            if let first = keys.first, first.isTable { table = first.name }
            documented.formUnion(keys.map { cell.hasPrefix(" …") ? "\(table).\($0.name)" : $0.name })
        }
        #expect(documented == Self.read, "\(documented.symmetricDifference(Self.read).sorted())")
    }

    @Test func `each key is used by a manifest of lanyard's own`() throws {
        var used = Set<String>()
        for plugin in try FileManager.default.contentsOfDirectory(atPath: Self.checkout.path + "/plugins") {
            var table = ""
            for line in try Self.lines("plugins/\(plugin)/plugin.toml") {
                if let match = line.prefixMatch(of: #/\[\[([a-z-]+)\]\]/#) {
                    table = String(match.1)
                    used.insert(table)
                } else if let match = line.prefixMatch(of: #/([a-z-]+) = /#) {
                    used.insert(table.isEmpty ? String(match.1) : "\(table).\(match.1)")
                }
            }
        }
        #expect(used == Self.read, "\(used.symmetricDifference(Self.read).sorted())")
    }

    /// An author has to find the ten that matter among them.
    @Test func `there are no more than 83 keys`() {
        #expect(Self.read.count <= 83, "\(Self.read.count)")
    }
}
