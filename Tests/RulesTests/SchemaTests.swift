import Foundation
import Model
import Rules
import Testing

/// The configuration's keys, which are listed in four places.
@Suite struct SchemaTests {
    private static let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path

    private static let keys =
        Configuration.keys + Rule.keys + AuthorityApp.keys + Identity.keys + Forward.keys + Configuration.policyKeys
        + Configuration.keyringKeys

    private static func text(_ path: String) throws -> String {
        try String(contentsOfFile: "\(checkout)/\(path)", encoding: .utf8)
    }

    private static func schema() throws -> [String: Any] {
        try #require(
            try JSONSerialization.jsonObject(with: Data(text("share/config.schema.json").utf8)) as? [String: Any])
    }

    @Test func `the schema has the keys that lanyard reads`() throws {
        let top = try #require(try Self.schema()["properties"] as? [String: [String: Any]])
        #expect(top.keys.sorted() == Configuration.keys.sorted())
        let rule = try #require((top["rule"]?["items"] as? [String: Any])?["properties"] as? [String: Any])
        #expect(rule.keys.sorted() == Rule.keys.sorted())
        let app = try #require((top["client"]?["items"] as? [String: Any])?["properties"] as? [String: Any])
        #expect(app.keys.sorted() == AuthorityApp.keys.sorted())
        let identity = try #require((top["identity"]?["items"] as? [String: Any])?["properties"] as? [String: Any])
        #expect(identity.keys.sorted() == Identity.keys.sorted())
        let forward = try #require((top["forward"]?["items"] as? [String: Any])?["properties"] as? [String: Any])
        #expect(forward.keys.sorted() == Forward.keys.sorted())
        let policy = try #require(top["policy"]?["properties"] as? [String: [String: Any]])
        #expect(policy.keys.sorted() == Configuration.policyKeys)
        let lock = try #require((policy["lock"]?["items"] as? [String: Any])?["enum"] as? [String])
        #expect(lock.sorted() == Configuration.keys.sorted())
    }

    @Test func `the schema has the words that lanyard takes`() throws {
        let top = try #require(try Self.schema()["properties"] as? [String: [String: Any]])
        #expect(top["flow"]?["enum"] as? [String] == Configuration.FlowChoice.allCases.map(\.rawValue))
        #expect(top["device-mode"]?["enum"] as? [String] == Configuration.DeviceMode.allCases.map(\.rawValue))
    }

    @Test(arguments: ["man/lanyard-config.5", "docs/configuration-reference.md"])
    func `the manual names every key`(page: String) throws {
        let words = Set(
            try Self.text(page).split { !($0.isLetter || $0.isNumber || $0 == "-") }.map(String.init))
        for key in Self.keys { #expect(words.contains(key), "\(page) misses \(key)") }
    }

    @Test func `the manual names no key that there isn't`() throws {
        let names = try Self.text("man/lanyard-config.5").split(separator: "\n").filter { $0.hasPrefix(".It Cm ") }
            .flatMap { $0.dropFirst(7).split { $0 == " " || $0 == "," }.map(String.init) }
        for name in names { #expect(Self.keys.contains(name), "\(name)") }
    }
}
