import Addresses
import PluginWire
import Secrets
import SettingsFile

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
                name: name, hosts: ((try? row.strings("hosts")) ?? []).map { $0.lowercased() }, scopes: [])
        }
        return manifest
    }

    private func rows(_ key: String, of table: SettingsTable) -> ArraySlice<SettingsTable> {
        ((try? table.tables(key)) ?? (try? table.table(key)).map { [$0] } ?? []).prefix(256)
    }

    /// Returns the hosts in a row; those that are written as a URL, too, and one that isn't in a list.
    private func hosts(of row: SettingsTable) -> [String] {
        let texts = (try? row.strings("hosts")) ?? (try? row.string("hosts")).map { [$0] } ?? []
        return texts.prefix(256).map { text in
            let host = StrictURL(pattern: text).map { $0.host.text } ?? text
            return host.lowercased()
        }.filter(WireForm.anyHostPattern.accepts)
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
