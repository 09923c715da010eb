import Addresses
import SettingsFile

/// An issuer's client: a `[[client]]` table, which an organisation ships to all of its users.
public struct IssuerClient: Sendable, Equatable {
    /// The issuer, as an authority's URL.
    public let issuer: String
    /// The client ID, or a well-known client's name.
    public let clientID: String

    /// The keys of a client.
    public static let keys = ["issuer", "client-id"]

    /// Parses a `[[client]]` table.
    ///
    /// - Throws: `SettingsError` if a key is unknown, missing or invalid.
    init(_ table: SettingsTable) throws(SettingsError) {
        try table.allow(only: Self.keys, of: "client")
        guard let issuer = try table.string("issuer") else {
            throw table.error(nil, "a client needs `issuer`", hint: "such as issuer = \"https://gitlab.contoso.com\"")
        }
        guard let id = try table.clientID() else { throw table.error(nil, "a client needs `client-id`") }
        self.issuer = try table.authority(issuer, key: "issuer")
        clientID = id
    }

    /// Whether it is the client for an authority, with the same case or with any.
    func isKnown(at authority: String, ignoringCase: Bool) -> Bool {
        let authority = authority.withoutTrailingSlashes
        return ignoringCase ? issuer.lowercased().isSame(as: authority.lowercased()) : issuer.isSame(as: authority)
    }
}

extension Configuration {
    /// Returns the default client of an authority: its issuer's, of several the last, so that a user's wins; or else
    /// the general default.
    ///
    /// The case of a path counts at some issuers, so one that is spelt alike goes first.
    public func clientID(at authority: String) -> String? {
        let best = [false, true].lazy.compactMap { [clients] ignoringCase in
            clients.last { $0.isKnown(at: authority, ignoringCase: ignoringCase) }
        }
        return best.first?.clientID ?? clientID
    }

    /// Returns the client of a rule; nil if neither the rule nor its authority has one.
    public func clientID(of rule: Rule) -> String? { rule.clientID ?? clientID(at: rule.authority) }

    /// Returns the authorities where a client ID is used, and their kinds if rules name them.
    public func authorities(ofClient id: String) -> [(url: String, kind: String?)] {
        let ofRules = rules.filter { clientID(of: $0)?.clientKey == id.clientKey }
        let ofIssuers = clients.filter { $0.clientID.clientKey == id.clientKey }.map(\.issuer)
        let standard = clientID?.clientKey == id.clientKey ? authority : nil
        return ofRules.map { ($0.authority.withoutTrailingSlashes, $0.kind) }
            + (ofIssuers + [standard].compactMap(\.self)).map { ($0.withoutTrailingSlashes, nil) }
    }
}
