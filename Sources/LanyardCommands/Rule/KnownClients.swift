import Addresses
import CredentialEngine
import PluginHost
import Rules
import Secrets
import Terminal

// Clients with names in plugin manifests.

extension AuthorityMatch {
    /// Returns a client for people, with its name if it has one.
    func clientForPeople(_ id: String) -> String {
        let shown = id.displayable(limit: 100)
        guard let client = client(id) else { return shown }
        return "\(client.name), \(client.id)" + (client.summary.isEmpty ? "" : " (\(client.summary.displayable()))")
    }
}

extension Hint {
    /// Returns a hint for a client that needs no app registration.
    static func clientForEverybody(write line: String) -> Hint {
        Hint("without an app, use a client that every organisation has", write: line)
    }
}

extension PluginRegistry {
    /// Returns the ID of a client at an authority, regardless of policies; the text itself if it isn't a client's name
    /// there.
    func clientID(_ text: String?, at authority: String, kind: String? = nil) -> String? {
        guard let text else { return nil }
        return match(authority: authority, kind: kind, isConfigured: true)?.client(text)?.id ?? text
    }

    /// Returns the keys of the IDs that a client's ID or name stands for.
    func clientIDs(_ text: String) -> Set<String> {
        let known = clientIDs(named: text)
        return Set((known.isEmpty ? [text] : known).map(\.clientKey))
    }
}

extension Configuration {
    /// Returns the clients to offer for a well-known resource to users without an app registration.
    func offeredClients(_ match: AuthorityMatch, for resource: PluginResource?) -> [PluginClient] {
        (resource?.clients ?? []).filter(allows).compactMap { name in
            match.clients.first { $0.name == name }
        }
    }
}
