import Addresses

// Authorities as users type them: a domain, a URL without its scheme, the first label of a domain.

extension PluginRegistry {
    /// Returns the URL of the authority that the user means; the text itself if it has a scheme or means nothing else.
    public func authority(typed text: String) -> String {
        guard StrictURL.scheme(of: text) == nil, !text.isEmpty else { return text }
        let url = "https://\(text)"
        guard !text.hasBytes("/") else { return completed(url) }
        // Of an email address, the domain.
        let realm = (text.cut(atLast: "@").map { String($0.1) } ?? text).lowercased()
        guard !names(host: realm) else { return url }
        return plugins.lazy.compactMap { $0.authority(ofRealm: realm) }.first ?? url
    }

    /// Returns a URL in which a realm of a single label has its plugin's domain appended.
    private func completed(_ url: String) -> String {
        guard let match = match(authority: url, isConfigured: true), match.sharedRealm == nil,
            let realm = match.plugin.wholeRealm(match.realm), realm != match.realm
        else { return url }
        let path = match.authority.path.map { $0.lowercased() == match.realm ? realm : $0 }
        return "https://\(match.authority.host)/\(path.joined(separator: "/"))"
    }
}

extension PluginManifest {
    /// Returns the authority of a realm, in lower case, that the user typed alone; nil if the plugin has none.
    fileprivate func authority(ofRealm realm: String) -> String? {
        guard let pattern = realmAuthority else { return nil }
        let isNamed = authorities.contains { $0.realms.contains(realm) }
        let isServed = authorities.contains { $0.realms.isEmpty && $0.serves(realm: realm) }
        guard let whole = isNamed ? realm : isServed ? wholeRealm(realm) : nil else { return nil }
        return pattern.replacing(bytes: "{realm}", with: whole)
    }

    /// Returns a realm, in lower case, with its domain appended if it is a single label; nil if it isn't a valid realm.
    fileprivate func wholeRealm(_ realm: String) -> String? {
        if RealmForm.allCases.contains(where: { $0.accepts(realm) }) { return realm }
        guard let realmDomain else { return nil }
        let whole = "\(realm).\(realmDomain)"
        return !realm.hasBytes(".") && RealmForm.domain.accepts(whole) ? whole : nil
    }
}
