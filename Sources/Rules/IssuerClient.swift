import Addresses
import SettingsFile

/// The client that an issuer knows: a `[[client]]` table, which an organisation ships to everybody.
public struct IssuerClient: Sendable, Equatable {
    /// The issuer: an authority's URL.
    public let issuer: String
    /// The client ID, or a well-known client's name.
    public let clientID: String

    /// The keys of a client.
    public static let keys = ["issuer", "client-id"]

    /// Reads a `[[client]]` table.
    ///
    /// - Throws: `SettingsError` if a key is unknown, missing or wrong.
    init(_ table: SettingsTable) throws(SettingsError) {
        try table.allow(only: Self.keys, of: "client")
        guard let issuer = try table.string("issuer") else {
            throw table.error(nil, "a client needs `issuer`", hint: "such as issuer = \"https://gitlab.contoso.com\"")
        }
        guard let id = try table.clientID() else { throw table.error(nil, "a client needs `client-id`") }
        self.issuer = try table.authority(issuer, key: "issuer")
        clientID = id
    }

    /// Whether it is the client at an authority; an issuer's path may be spelt in any case, as all are compared so.
    func isKnown(at authority: String) -> Bool {
        issuer.lowercased().isSame(as: authority.withoutTrailingSlashes.lowercased())
    }
}

extension Configuration {
    /// The client of whatever names none itself at an authority: its issuer's, of several the last, so that a user's wins; else
    /// the one for all.
    public func clientID(at authority: String) -> String? {
        clients.last { $0.isKnown(at: authority) }?.clientID ?? clientID
    }

    /// The client of a rule; nil if it names none and its authority has none.
    public func clientID(of rule: Rule) -> String? { rule.clientID ?? clientID(at: rule.authority) }

    /// The authorities that a client ID, whatever its case, is used at, and their kinds if rules name them.
    public func authorities(ofClient id: String) -> [(url: String, kind: String?)] {
        let ofRules = rules.filter { clientID(of: $0)?.lowercased() == id.lowercased() }
        let ofIssuers = clients.filter { $0.clientID.lowercased() == id.lowercased() }.map(\.issuer)
        let standard = clientID?.lowercased() == id.lowercased() ? authority : nil
        return ofRules.map { ($0.authority.withoutTrailingSlashes, $0.kind) }
            + (ofIssuers + [standard].compactMap(\.self)).map { ($0.withoutTrailingSlashes, nil) }
    }
}
