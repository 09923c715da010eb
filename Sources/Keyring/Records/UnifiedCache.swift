import JSON

/// MSAL's unified cache: the JSON document that its libraries share, for import and export.
///
/// Unknown sections, entries and members survive a round trip. Entries are read by their fields, and keys are composed
/// only when writing, so an entry that another version filed under another key moves to the right one.
public struct UnifiedCache: Sendable, Equatable {
    /// The records of the five known sections.
    public var records: [CredentialRecord] = []
    /// Unknown sections, and entries of known ones that aren't records.
    private var other: [String: JSONValue] = [:]

    private static let sections: [(name: String, kind: CredentialKind)] = [
        ("AccessToken", .accessToken), ("RefreshToken", .refreshToken), ("IdToken", .idToken), ("Account", .account),
        ("AppMetadata", .appMetadata),
    ]

    /// Creates a cache from records.
    public init(_ records: [CredentialRecord] = []) {
        self.records = records
    }

    /// Parses a cache; nil if the bytes aren't one JSON object.
    public init?(json: some Sequence<UInt8>) {
        guard var document = JSONValue(bytes: json)?.members else { return nil }
        for (name, kind) in Self.sections {
            guard let entries = document[name]?.members else { continue }
            var strange: [String: JSONValue] = [:]
            for (key, entry) in entries.sorted(by: { $0.key < $1.key }) {
                if let record = entry.members.flatMap({ CredentialRecord(kind: kind, members: $0) }) {
                    records.append(record)
                } else {
                    strange[key] = entry
                }
            }
            document[name] = strange.isEmpty ? nil : .object(strange)
        }
        other = document
    }

    /// Descriptions, for users, of what isn't in the records: unknown sections, and entries of known ones that aren't
    /// records.
    public var leftOver: [String] {
        other.sorted { $0.key < $1.key }.map { name, value in
            guard Self.sections.contains(where: { $0.name == name }) else { return "section \(name)" }
            return "\(value.members?.count ?? 1) of \(name)"
        }
    }

    /// Encodes the cache as JSON, including secrets; equal caches give equal bytes.
    ///
    /// The results of exchanges are left out, since the format has no place for them; tokens are exchanged again.
    ///
    /// - Parameter pretty: Whether to indent it for users.
    /// - Returns: The document in UTF-8.
    public func json(pretty: Bool = false) -> [UInt8] {
        var document = other
        for record in records where record.kind != .exchanged {
            let name = Self.sectionName(of: record.kind)
            var section = document[name]?.members ?? [:]
            section[record.unifiedKey] = .object(record.members)
            document[name] = .object(section)
        }
        return JSONValue.object(document).encoded(pretty: pretty)
    }

    private static func sectionName(of kind: CredentialKind) -> String {
        let section = kind == .accessTokenWithScheme ? .accessToken : kind
        return sections.first { $0.kind == section }?.name ?? section.rawValue
    }
}
