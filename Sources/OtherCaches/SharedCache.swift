import Addresses
import FoundationEssentials
public import JSON
public import Keyring

/// An MSAL cache that other programs read and write, with entries added by lanyard.
///
/// It is changed entry by entry: everything else is written back as it was read, in the same encoding.
public struct SharedCache: Sendable {
    private var document: [String: JSONValue]
    private let isBase64: Bool

    /// The members that MSAL's libraries know; lanyard's own would mean nothing to them.
    private static let members: [String: Set<String>] = [
        "AccessToken": [
            "credential_type", "secret", "home_account_id", "environment", "client_id", "target", "realm", "token_type",
            "cached_at", "expires_on", "extended_expires_on", "refresh_on",
        ],
        "Account": [
            "home_account_id", "environment", "realm", "local_account_id", "username", "authority_type", "name",
            "client_info",
        ],
    ]

    /// Parses a cache, which is empty if there are no bytes; nil if the bytes aren't a cache.
    public init?(_ bytes: [UInt8]) {
        let isEmpty = bytes.allSatisfy { " \t\r\n".utf8.contains($0) }
        let plain = isEmpty ? [:] : JSONValue(bytes: bytes[...])?.members
        let decoded = plain == nil ? Data(base64Encoded: Data(bytes), options: .ignoreUnknownCharacters) : nil
        guard let members = plain ?? decoded.flatMap({ JSONValue(bytes: [UInt8]($0)[...])?.members }) else {
            return nil
        }
        document = members
        isBase64 = plain == nil
    }

    /// Adds access tokens and accounts, replacing entries with the same keys; refresh tokens and other records are
    /// never shared.
    ///
    /// - Returns: Whether all could be added; a section that isn't an object stays as it is.
    public mutating func add(_ records: [CredentialRecord]) -> Bool {
        for record in records.map(Self.atHost) {
            guard let (section, entry) = Self.entry(of: record) else { continue }
            guard var entries = (document[section] ?? .object([:])).members else { return false }
            entries[record.unifiedKey] = .object(entry)
            document[section] = .object(entries)
        }
        return true
    }

    /// Whether the cache has exactly these records.
    public func has(_ records: [CredentialRecord]) -> Bool {
        records.map(Self.atHost).allSatisfy { record in
            guard let (section, entry) = Self.entry(of: record) else { return true }
            return document[section]?[record.unifiedKey] == .object(entry)
        }
    }

    /// The bytes to write.
    public var bytes: [UInt8] {
        let json = JSONValue.object(document).encoded()
        return isBase64 ? [UInt8](Data(json).base64EncodedString().utf8) : json
    }

    /// Returns the record as MSAL for Python stores it: under the authority's host without its port.
    private static func atHost(_ record: CredentialRecord) -> CredentialRecord {
        guard let host = RequestHost(record.environment), host.port != nil else { return record }
        var record = record
        record.environment = host.withoutAnyPort.text
        return record
    }

    private static func entry(of record: CredentialRecord) -> (section: String, members: [String: JSONValue])? {
        let section: String
        switch record {
        case .accessToken: section = "AccessToken"
        case .account: section = "Account"
        case .refreshToken, .idToken, .appMetadata, .exchanged: return nil
        }
        guard let known = members[section], let all = JSONValue(bytes: record.json[...])?.members else { return nil }
        return (section, all.filter { known.contains($0.key) })
    }

    /// Whether Azure Identity's libraries support such accounts: Microsoft Entra ID's, but not Azure AD B2C's.
    public static func accepts(_ account: AccountRecord) -> Bool { account.isMicrosofts && account.policy == nil }

    /// Returns the record that Azure Identity's libraries for Python need to find an account in their cache.
    public static func authenticationRecord(of account: AccountRecord, clientID: String, tenant: String) -> JSONValue {
        // A host with a port would be parsed as a URL's scheme.
        let host = account.environment
        return .object([
            "authority": .string(host.hasBytes(":") ? "https://\(host)" : host), "clientId": .string(clientID),
            "homeAccountId": .string(account.homeAccountID), "tenantId": .string(tenant),
            "username": .string(account.username), "version": .string("1.0"),
        ])
    }
}

/// The location of a named cache of Azure Identity for Python.
public struct AzureIdentityCache: Sendable {
    private static let longestName = 64

    /// The schema of the item in the Secret Service.
    public let schema: String
    /// The item's only attribute.
    public let attributes = OtherLocations.developerTools
    /// The item's label.
    public let label = OtherLocations.azureIdentityLabel
    /// The file in the user's home folder whose modification time says when the cache was changed.
    public let signal: String

    /// Creates the location for programs that don't handle claims challenges, the usual case; nil if the name is invalid.
    public init?(named name: String) {
        let isPlain = name.utf8.allSatisfy { $0.isLabelByte || $0 == UInt8(ascii: ".") }
        guard !name.isEmpty, name.utf8.count <= Self.longestName, isPlain, name.utf8.first != 0x2E else { return nil }
        schema = "\(name).nocae"
        signal = "\(OtherLocations.azureIdentityFolder)/\(schema)"
    }

    /// The lock file in the user's home folder, which exists while a program writes.
    public var lock: String { signal + OtherLocations.extensionsLock }
}
