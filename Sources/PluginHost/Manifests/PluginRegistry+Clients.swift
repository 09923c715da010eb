public import PluginWire
import SettingsFile

extension AuthorityMatch {
    /// The clients at the authority's host that users can refer to by name.
    public var clients: [PluginClient] {
        plugin.clients.filter { client in
            client.hosts.isEmpty || environmentHosts.contains { client.hosts.rank(of: $0) != nil }
        }
    }

    /// Returns the client with this name or ID; nil if the manifest has none.
    public func client(_ text: String) -> PluginClient? {
        clients.first { $0.name == text } ?? clients.first { $0.id.lowercased() == text.lowercased() }
    }

    /// Whether a text may be the ID of a client at the authority.
    public func takes(clientID: String) -> Bool { plugin.clientIDs?.accepts(clientID) ?? true }

    /// Returns the client name that is nearest to a mistyped one; nil if none is near.
    public func nearestClient(to name: String) -> String? { clients.map(\.name).nearest(to: name.lowercased()) }
}

extension PluginClient {
    /// Returns those flows that the client may use.
    public func usable(_ all: [PluginRequest.Flow]) -> [PluginRequest.Flow] {
        flows.isEmpty ? all : all.filter(flows.contains)
    }
}

extension PluginRegistry {
    /// Returns the well-known consumer whose tokens have these scopes; nil if there is none.
    public func resource(ofScopes scopes: [String]) -> PluginResource? {
        plugins.lazy.flatMap(\.resources).first { $0.scopes == scopes }
    }

    /// Returns the IDs that a client's name stands for at any authority; empty if it isn't a client's name.
    public func clientIDs(named name: String) -> [String] {
        plugins.flatMap(\.clients).filter { $0.name == name }.map(\.id)
    }
}
