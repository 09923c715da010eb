import JSON

/// MSAL's unified cache: the JSON document its libraries share, for import and export.
///
/// Sections, entries and members that nobody here knows survive a round trip. Entries are read by their fields; only
/// writing composes keys, so an entry that another version filed under another key moves to the right one.
public struct UnifiedCache: Sendable, Equatable {
    /// The records of the five known sections.
    public var records: [CredentialRecord] = []
    /// Sections nobody here knows, and entries of known ones that are no records.
    private var other: [String: JSONValue] = [:]

    private static let sections: [(name: String, kind: CredentialKind)] = [
        ("AccessToken", .accessToken), ("RefreshToken", .refreshToken), ("IdToken", .idToken), ("Account", .account),
        ("AppMetadata", .appMetadata),
    ]

    /// Makes a cache of records.
    public init(_ records: [CredentialRecord] = []) {
        self.records = records
    }

    /// Reads a cache; nil if the bytes are not one JSON object.
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

    /// What the records leave out, for people: sections nobody here knows, and entries of known ones that are no records.
    public var leftOver: [String] {
        other.sorted { $0.key < $1.key }.map { name, value in
            guard Self.sections.contains(where: { $0.name == name }) else { return "section \(name)" }
            return "\(value.members?.count ?? 1) of \(name)"
        }
    }

    /// The cache as JSON, secrets included; equal caches are equal bytes.
    ///
    /// What tokens were exchanged for has no place in it: it is exchanged anew.
    ///
    /// - Parameter pretty: whether to indent it for people.
    /// - Returns: the document in UTF-8.
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
