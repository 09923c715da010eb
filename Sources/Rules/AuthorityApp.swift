import Addresses
import SettingsFile
import Terminal

/// An authority's app: a `[[client]]` table, which an organisation ships to all of its users.
public struct AuthorityApp: Sendable, Equatable {
    /// The authority's URL.
    public let authority: String
    /// The client ID, or a well-known app's name.
    public let clientID: String
    /// The kind of the authority; nil if it is one that a plugin knows, or if the app is for rules only.
    public let kind: String?
    /// The rule for the authority's own URL, if the kind is known; nil if no rule can be for that URL.
    let rule: Rule?

    /// The keys of an app.
    public static let keys = ["issuer", "client-id", "kind"]

    /// Parses a `[[client]]` table.
    ///
    /// - Throws: `SettingsError` if a key is unknown, missing or invalid.
    init(_ table: SettingsTable) throws(SettingsError) {
        try table.allow(only: Self.keys, of: "client")
        guard let authority = try table.string("issuer") else {
            throw table.error(
                nil, "an app needs `issuer`", hint: "such as issuer = \"https://gitlab.contoso.com\"")
        }
        guard let id = try table.clientID() else { throw table.error(nil, "an app needs `client-id`") }
        self.authority = try table.authority(authority, key: "issuer")
        clientID = id
        kind = try table.string("kind")
        let url = self.authority
        var rule = URLPattern(url).map { Rule(pattern: $0, authority: url, scopes: []) }
        rule?.kind = kind
        rule?.file = table.file
        rule?.line = table.line
        self.rule = rule
    }

    /// Whether it is the app for an authority, with the same case or with any.
    func isKnown(at other: String, ignoringCase: Bool) -> Bool {
        let other = other.withoutTrailingSlashes
        return ignoringCase ? authority.lowercased().isSame(as: other.lowercased()) : authority.isSame(as: other)
    }
}

extension Configuration {
    /// Returns an authority's app, of several the last, so that a user's wins; nil if none has a table.
    ///
    /// The case of a path counts at some authorities, so one that is spelt alike goes first.
    public func app(at authority: String) -> AuthorityApp? {
        let best = [false, true].lazy.compactMap { [apps] ignoringCase in
            apps.last { $0.isKnown(at: authority, ignoringCase: ignoringCase) }
        }
        return best.first
    }

    /// Returns the client ID of an authority's app, or else the general default.
    public func clientID(at authority: String) -> String? { app(at: authority)?.clientID ?? clientID }

    /// Returns the client of a rule; nil if neither the rule nor its authority has one.
    public func clientID(of rule: Rule) -> String? { rule.clientID ?? clientID(at: rule.authority) }

    /// Returns the authorities where a client ID is used, and their kinds if rules name them.
    public func authorities(ofClient id: String) -> [(url: String, kind: String?)] {
        let ofRules = rules.filter { clientID(of: $0)?.clientKey == id.clientKey }
        let ofApps = apps.filter { $0.clientID.clientKey == id.clientKey }.map(\.authority)
        let standard = clientID?.clientKey == id.clientKey ? authority : nil
        return ofRules.map { ($0.authority.withoutTrailingSlashes, $0.kind) }
            + (ofApps + [standard].compactMap(\.self)).map { ($0.withoutTrailingSlashes, nil) }
    }
}
