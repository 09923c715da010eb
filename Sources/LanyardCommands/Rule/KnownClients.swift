import CredentialEngine
import PluginHost
import Rules
import Secrets
import Terminal

// Clients that manifests give names to.

extension AuthorityMatch {
    /// A client for people: by its name, if it has one.
    func clientForPeople(_ id: String) -> String {
        let shown = id.displayable(limit: 100)
        guard let client = client(id) else { return shown }
        return "\(client.name), \(client.id)" + (client.summary.isEmpty ? "" : " (\(client.summary.displayable()))")
    }
}

extension Hint {
    /// A client that does without an app of the organisation's.
    static func clientForEverybody(write line: String) -> Hint {
        Hint("without an app, use a client that every organisation has", write: line)
    }
}

extension Session {
    /// The id of a client at an authority, whatever a policy says of it; the text itself if it is nobody's name there.
    func clientID(_ text: String?, at authority: String, kind: String? = nil) -> String? {
        guard let text else { return nil }
        return registry.match(authority: authority, kind: kind, isConfigured: true)?.client(text)?.id ?? text
    }

    /// The ids that a client's id or name stands for, lower-cased.
    func clientIDs(_ text: String) -> Set<String> {
        let known = registry.clientIDs(named: text)
        return Set((known.isEmpty ? [text] : known).map { $0.lowercased() })
    }

    /// The clients that people without an app of their own are offered for a well-known consumer.
    func offeredClients(_ match: AuthorityMatch, for resource: PluginResource?) -> [PluginClient] {
        (resource?.clients ?? []).filter(configuration.allows).compactMap { name in
            match.clients.first { $0.name == name }
        }
    }
}
