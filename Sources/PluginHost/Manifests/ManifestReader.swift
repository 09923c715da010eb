import Addresses
import PluginWire
import SettingsFile

/// Reads the text of a `plugin.toml`; unknown keys are errors, so that a misspelt one never goes unnoticed.
struct ManifestReader {
    /// The longest manifest taken.
    static let longestFile = 256 * 1024

    private let file: String
    private let text: String

    /// - Parameters:
    ///   - text: The manifest.
    ///   - file: Where it was read, for messages.
    init(_ text: String, file: String) {
        self.text = text
        self.file = file
    }

    /// The manifest, and the `executable` it names, which is still to be found.
    func read() throws(PluginProblem) -> (manifest: PluginManifest, executable: String) {
        do throws(SettingsError) {
            return try read(SettingsTable(file: file, text: text))
        } catch {
            throw PluginProblem(error)
        }
    }

    private func read(_ table: SettingsTable) throws(SettingsError) -> (PluginManifest, String) {
        try table.allow(only: [
            "name", "version", "description", "protocols", "executable", "arguments", "kind", "flows", "authority",
            "environment", "resource",
        ])
        var manifest = PluginManifest(name: try table.requiredText("name", .pluginName))
        manifest.version = try table.requiredText("version", .token(64))
        manifest.summary = try table.requiredText("description", .text(256))
        manifest.protocols = try table.requiredList("protocols", .token(32))
        manifest.arguments = try table.list("arguments", .text(1024))
        manifest.kind = try table.text("kind", .pluginName)
        manifest.flows = try table.list("flows", .token(64)).map(PluginRequest.Flow.init(rawValue:))
        manifest.authorities = try table.each("authority", authority)
        manifest.environments = try table.each("environment", environment)
        manifest.resources = try table.each("resource", resource)
        return (manifest, try table.requiredText("executable", .text(4096)))
    }

    private func authority(_ table: SettingsTable) throws(SettingsError) -> AuthorityPattern {
        try table.allow(only: ["hosts", "path", "realms", "except-realms", "policies"])
        var pattern = AuthorityPattern(
            hosts: try table.requiredList("hosts", .anyHostPattern).map { $0.lowercased() },
            path: try segments(table))
        pattern.realms = try table.list("realms", .token(256)).map { $0.lowercased() }
        pattern.exceptRealms = try table.list("except-realms", .token(256)).map { $0.lowercased() }
        pattern.policies = try table.list("policies", .token(256)).map { $0.lowercased() }
        return pattern
    }

    private func segments(_ table: SettingsTable) throws(SettingsError) -> [AuthorityPattern.Segment] {
        let path = try table.requiredText("path", .token(512))
        let segments = path.pieces(between: "/", omittingEmpty: false).dropFirst().map(segment)
        guard path.hasPrefix("/"), !segments.isEmpty, segments.count <= AuthorityURL.mostSegments,
            segments.count(where: { $0 == .realm }) <= 1, segments.count(where: { $0 == .policy }) <= 1,
            segments.allSatisfy({ $0 != .literal("") }), !segments.contains(where: \.isUnknownBrace)
        else {
            throw table.error(
                "path", "`path` is not of segments such as /tfp/{realm}/{policy}",
                hint: "write literal segments, {realm} and {policy}, each once at most")
        }
        return segments
    }

    private func segment(_ text: Substring) -> AuthorityPattern.Segment {
        switch text {
        case "{realm}": .realm
        case "{policy}": .policy
        default: .literal(text.lowercased())
        }
    }

    private func environment(_ table: SettingsTable) throws(SettingsError) -> [String] {
        try table.allow(only: ["hosts"])
        return try table.requiredList("hosts", .host)
    }

    private func resource(_ table: SettingsTable) throws(SettingsError) -> PluginResource {
        try table.allow(only: ["name", "hosts", "scopes"])
        return PluginResource(
            name: try table.requiredText("name", .text(128)),
            hosts: try table.requiredList("hosts", .hostPattern).map { $0.lowercased() },
            scopes: try table.requiredList("scopes", .scope))
    }
}

extension AuthorityPattern.Segment {
    fileprivate var isUnknownBrace: Bool {
        guard case .literal(let text) = self else { return false }
        return text.utf8.contains { "{}*?#%".utf8.contains($0) }
    }
}

extension WireForm {
    /// A plugin's name: it becomes a path and part of messages.
    static let pluginName = WireForm(limit: 64) { name in
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
    /// A host, perhaps with one or more `*.` before it.
    static let hostPattern = WireForm(limit: 261) { pattern in
        var name = pattern.lowercased()[...]
        while name.utf8.starts(with: "*.".utf8) { name = Substring(name.utf8.dropFirst(2)) }
        return HostName.isCanonical(String(name))
    }
    /// A host pattern, or `*` for any host that the configuration names.
    static let anyHostPattern = WireForm(limit: 261) { $0 == "*" || hostPattern.accepts($0) }
}
