import Addresses
import PluginWire
import Secrets
import SettingsFile
import Terminal

/// What is a plugin's own, although something in its manifest keeps it from being used.
extension ManifestReader {
    /// Returns what a manifest that can't be used still claims for its plugin, as far as that can be read; nil if it isn't
    /// even TOML.
    ///
    /// Whatever is wrong in a row, its hosts are the plugin's: it is better to claim too much than to leave an authority,
    /// and its tokens, to another plugin.
    func claims(of name: String) -> PluginManifest? {
        guard let table = try? SettingsTable(file: file, text: text) else { return nil }
        var manifest = PluginManifest(name: name)
        manifest.kind = try? table.text("kind", .pluginName)
        manifest.identities = ((try? table.strings("identities")) ?? []).map(PluginIdentity.Kind.init(rawValue:))
        manifest.authorities = rows("authority", of: table).compactMap(claimed)
        manifest.issuers = rows("issuer", of: table).compactMap { row in
            guard let kind = try? row.requiredText("kind", .pluginName) else { return nil }
            var issuer = PluginIssuer(kind: kind, hosts: hosts(of: row).filter { !$0.isSame(as: "*") })
            issuer.scopes = try? row.strings("scopes")
            return issuer
        }
        manifest.sources = rows("source", of: table).compactMap(claimedSource)
        manifest.exchanges = rows("exchange", of: table).compactMap { row in
            guard let name = try? row.requiredText("name", .pluginName) else { return nil }
            return PluginExchange(
                name: name, hosts: hostTexts(of: row).map(host).filter(WireForm.exchangeHost.accepts), scopes: [])
        }
        let sources = rows("source", of: table)
        manifest.losesHosts =
            !manifest.servesSomething || manifest.sources.count < sources.count
            || rows("authority", of: table).contains(where: losesHosts)
        return manifest
    }

    private func rows(_ key: String, of table: SettingsTable) -> ArraySlice<SettingsTable> {
        ((try? table.tables(key)) ?? (try? table.table(key)).map { [$0] } ?? []).prefix(256)
    }

    /// Returns the hosts in a row.
    private func hosts(of row: SettingsTable) -> [String] {
        hostTexts(of: row).map(host).filter(WireForm.anyHostPattern.accepts)
    }

    /// Returns what is written for the hosts in a row, even if it isn't a list.
    private func hostTexts(of row: SettingsTable) -> ArraySlice<String> {
        ((try? row.strings("hosts")) ?? (try? row.string("hosts")).map { [$0] } ?? []).prefix(256)
    }

    /// Returns the host that a text means, with what doesn't belong to it removed: a scheme, a usual port, a path, a final
    /// dot, blanks.
    private func host(_ text: String) -> String {
        var text = text.trimmed(of: " \t/")
        if text.utf8.last == UInt8(ascii: ".") { text = text.dropLast() }
        let url = StrictURL(pattern: StrictURL.scheme(of: String(text)) == nil ? "https://\(text)" : String(text))
        return url.map { $0.host.withoutOwnPort(of: $0.scheme).text } ?? text.lowercased()
    }

    /// Whether a row may be for authorities that nobody can tell.
    func losesHosts(_ row: SettingsTable) -> Bool {
        // A broker's are another plugin's.
        (try? row.string("broker-of")) == nil && (claimed(row)?.hosts.count ?? 0) < max(1, hostTexts(of: row).count)
    }

    /// Returns the error for a key that is missing outside all tables, but is in one of them; nil if it is in none.
    func misplaced(_ error: SettingsError, in table: SettingsTable) -> SettingsError? {
        for (kind, known) in Self.keys {
            for row in rows(kind, of: table) {
                for key in Self.keys[""] ?? [] where !known.contains(key) && error.message.text.hasBytes("`\(key)`") {
                    guard let line = row.line(of: key) else { continue }
                    return SettingsError(
                        file: file, line: line, message: "\(error.message): this one is in [[\(kind)]]",
                        hint: "write it above all tables")
                }
            }
        }
        return nil
    }

    /// Returns the source that a row claims; nil if it has no name.
    func claimedSource(_ row: SettingsTable) -> PluginSource? {
        (try? row.requiredText("name", .pluginName)).map { PluginSource(name: $0, row: .init()) }
    }

    /// Returns the authorities that a row claims; nil if it names no host.
    func claimed(_ row: SettingsTable) -> AuthorityPattern? {
        // A broker's are another plugin's.
        guard (try? row.string("broker-of")) == nil else { return nil }
        if let pattern = try? authority(row) { return pattern }
        let hosts = hosts(of: row)
        if let path = try? segments(row) { return hosts.isEmpty ? nil : AuthorityPattern(hosts: hosts, path: path) }
        // Without a path, `*` would be everything.
        let named = hosts.filter { !$0.isSame(as: "*") }
        return named.isEmpty ? nil : AuthorityPattern(hosts: named, path: [.rest])
    }
}
