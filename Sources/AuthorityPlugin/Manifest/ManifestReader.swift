import CredentialProtocol
import TOMLKit

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
        let table = ManifestTable(try parse(), at: [], file: file, text: text)
        try table.allow([
            "name", "version", "description", "protocols", "executable", "arguments", "kind", "flows", "authority",
            "environment", "resource",
        ])
        var manifest = PluginManifest(name: try table.text("name", .pluginName))
        manifest.version = try table.text("version", .token(64))
        manifest.summary = try table.text("description", .text(256))
        manifest.protocols = try table.list("protocols", .token(32), required: true)
        manifest.arguments = try table.list("arguments", .text(1024))
        manifest.kind = try table.optional("kind", .pluginName)
        manifest.flows = try table.list("flows", .token(64)).map(PluginRequest.Flow.init(rawValue:))
        manifest.authorities = try table.tables("authority").map(authority)
        manifest.environments = try table.tables("environment").map(environment)
        manifest.resources = try table.tables("resource").map(resource)
        return (manifest, try table.text("executable", .text(4096)))
    }

    private func parse() throws(PluginProblem) -> TOMLTable {
        if let line = TOMLGuard.firstBadLine(of: text) { throw PluginProblem(file: file, line: line, "is not TOML") }
        do {
            return try TOMLTable(string: text)
        } catch let error as TOMLParseError {
            throw PluginProblem(file: file, line: error.source.begin.line, error.description.displayable(limit: 200))
        } catch {
            throw PluginProblem(file: file, "is not TOML")
        }
    }

    private func authority(_ table: ManifestTable) throws(PluginProblem) -> AuthorityPattern {
        try table.allow(["hosts", "path", "realms", "except-realms", "policies"])
        var pattern = AuthorityPattern(
            hosts: try table.list("hosts", .anyHostPattern, required: true).map { $0.lowercased() },
            path: try segments(table))
        pattern.realms = try table.list("realms", .token(256)).map { $0.lowercased() }
        pattern.exceptRealms = try table.list("except-realms", .token(256)).map { $0.lowercased() }
        pattern.policies = try table.list("policies", .token(256)).map { $0.lowercased() }
        return pattern
    }

    private func segments(_ table: ManifestTable) throws(PluginProblem) -> [AuthorityPattern.Segment] {
        let path = try table.text("path", .token(512))
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(segment)
        guard path.hasPrefix("/"), !segments.isEmpty, segments.count <= AuthorityURL.mostSegments,
            segments.count(where: { $0 == .realm }) <= 1, segments.count(where: { $0 == .policy }) <= 1,
            segments.allSatisfy({ $0 != .literal("") }), !segments.contains(where: \.isUnknownBrace)
        else {
            throw table.problem(
                "path", "path is not of segments such as /tfp/{realm}/{policy}",
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

    private func environment(_ table: ManifestTable) throws(PluginProblem) -> [String] {
        try table.allow(["hosts"])
        return try table.list("hosts", .host, required: true)
    }

    private func resource(_ table: ManifestTable) throws(PluginProblem) -> PluginResource {
        try table.allow(["name", "hosts", "scopes"])
        return PluginResource(
            name: try table.text("name", .text(128)),
            hosts: try table.list("hosts", .hostPattern, required: true).map { $0.lowercased() },
            scopes: try table.list("scopes", .scope, required: true))
    }
}

extension AuthorityPattern.Segment {
    fileprivate var isUnknownBrace: Bool {
        guard case .literal(let text) = self else { return false }
        return text.contains { "{}*?#%".contains($0) }
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
    /// A host, or `*.` before one.
    static let hostPattern = WireForm(limit: 261) { pattern in
        let name = pattern.lowercased()
        return HostName.isCanonical(name.hasPrefix("*.") ? String(name.dropFirst(2)) : name)
    }
    /// A host pattern, or `*` for any host that the configuration names.
    static let anyHostPattern = WireForm(limit: 261) { $0 == "*" || hostPattern.accepts($0) }
}
