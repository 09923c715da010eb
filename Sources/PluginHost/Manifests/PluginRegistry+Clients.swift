public import PluginWire
import SettingsFile

extension AuthorityMatch {
    /// The clients that people can call by name at the authority's host.
    public var clients: [PluginClient] {
        plugin.clients.filter { client in
            client.hosts.isEmpty
                || environmentHosts.contains { host in
                    client.hosts.contains { HostPattern.rank($0, host, isConfigured: false) != nil }
                }
        }
    }

    /// The client with a name or an id; nil if the text is neither of one that the manifest names.
    public func client(_ text: String) -> PluginClient? {
        clients.first { $0.name == text } ?? clients.first { $0.id.lowercased() == text.lowercased() }
    }

    /// Whether a text may be the id of a client at the authority.
    public func takes(clientID: String) -> Bool { plugin.clientIDs?.accepts(clientID) ?? true }

    /// The client's name that a mistyped one is nearest to; nil if none is near.
    public func nearestClient(to name: String) -> String? { clients.map(\.name).nearest(to: name.lowercased()) }
}

extension PluginClient {
    /// Those of some flows that the client may use.
    public func usable(_ all: [PluginRequest.Flow]) -> [PluginRequest.Flow] {
        flows.isEmpty ? all : all.filter(flows.contains)
    }
}

extension PluginRegistry {
    /// The well-known consumer whose tokens are asked with these scopes; nil if there is none.
    public func resource(ofScopes scopes: [String]) -> PluginResource? {
        plugins.lazy.flatMap(\.resources).first { $0.scopes == scopes }
    }

    /// The ids that a client's name stands for, whatever the authority; empty if it is no client's name.
    public func clientIDs(named name: String) -> [String] {
        plugins.flatMap(\.clients).filter { $0.name == name }.map(\.id)
    }
}
