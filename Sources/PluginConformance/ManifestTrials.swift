import Addresses
import PluginHost
import Secrets
import SettingsFile

/// What is wrong with a manifest that can be read.
extension PluginManifest {
    /// The parts that lanyard doesn't know; nil if there are none.
    var strangeParts: String? {
        notes.isEmpty ? nil : notes.map { "\($0)\($0.hint.map { " (\($0))" } ?? "")" }.joined(separator: "; ")
    }

    /// The problem with a shared realm of the manifest, if the plugin doesn't serve an authority with that realm.
    var strandedRealm: String? {
        let stranded = sharedRealms.first { shared in
            !authorities.contains { $0.serves(realm: shared.name) }
        }
        return stranded.map { "its [[shared-realm]] \($0.name.displayable(limit: 64)) is in no [[authority]]" }
    }

    /// The problem with a client of the manifest, if users couldn't refer to it by its name.
    var strangeClient: String? {
        for client in clients {
            let name = "its [[client]] \(client.name)"
            if clients.count(where: { $0.name == client.name }) > 1 { return "\(name) is there twice" }
            if clientIDs?.accepts(client.id) == false {
                return "\(name) has an id that is none of its client-ids"
            }
            guard flows.isEmpty || Set(client.flows).isSubset(of: flows) else {
                return "\(name) has flows that the plugin has not"
            }
        }
        return nil
    }

    /// The problem with a manifest that no request leads to.
    var servesNothing: String? {
        servesSomething ? nil : "its manifest has \(Self.nothing), so no request ever leads to it"
    }
}

extension AuthorityPattern {
    /// A URL that the pattern serves.
    var sample: String {
        let host = hosts.first { !$0.isSame(as: "*") }?.replacing(bytes: "*", with: "x") ?? "id.invalid"
        let segments = path.compactMap { segment in
            switch segment {
            case .literal(let text): text
            case .realm: realms.first ?? "x"
            case .policy(let glob): glob?.replacing(bytes: "*", with: "x") ?? "x"
            case .rest: nil
            }
        }
        return (["https://\(host)"] + segments).joined(separator: "/")
    }
}
