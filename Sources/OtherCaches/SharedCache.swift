import Addresses
import FoundationEssentials
public import JSON
public import TokenStore

/// A cache of MSAL's that other programs read and write, with entries of lanyard's added.
///
/// It is changed entry by entry: all else is written as it was read, whatever it is, and in the same encoding.
public struct SharedCache: Sendable {
    /// How it is written.
    private enum Encoding: Sendable {
        case json, base64
    }

    private var document: [String: JSONValue]
    private let encoding: Encoding

    /// The members that MSAL's libraries know; lanyard's own say nothing to them.
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

    /// Reads what is there, of which nothing is an empty cache; nil if it is no cache.
    public init?(_ bytes: [UInt8]) {
        let text = bytes.drop { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
        if text.isEmpty {
            document = [:]
            encoding = .json
        } else if let members = JSONValue(bytes: bytes[...])?.members {
            document = members
            encoding = .json
        } else if let decoded = Data(base64Encoded: Data(bytes), options: .ignoreUnknownCharacters),
            let members = JSONValue(bytes: [UInt8](decoded)[...])?.members
        {
            document = members
            encoding = .base64
        } else {
            return nil
        }
    }

    /// Adds access tokens and accounts, in place of what has their keys; refresh tokens and all others are never shared.
    ///
    /// - Returns: whether all could be added: a section that is no object stays as it is.
    public mutating func add(_ records: [CredentialRecord]) -> Bool {
        for record in records.map(Self.atHost) {
            guard let (section, entry) = Self.entry(of: record) else { continue }
            guard var entries = (document[section] ?? .object([:])).members else { return false }
            entries[record.unifiedKey] = .object(entry)
            document[section] = .object(entries)
        }
        return true
    }

    /// Whether it has these records just so.
    public func has(_ records: [CredentialRecord]) -> Bool {
        records.map(Self.atHost).allSatisfy { record in
            guard let (section, entry) = Self.entry(of: record) else { return true }
            return document[section]?[record.unifiedKey] == .object(entry)
        }
    }

    /// What is to be written.
    public var bytes: [UInt8] {
        let json = JSONValue.object(document).encoded()
        switch encoding {
        case .json: return json
        case .base64: return [UInt8](Data(json).base64EncodedString().utf8)
        }
    }

    /// The record as MSAL for Python keeps it: under the authority's host without its port.
    private static func atHost(_ record: CredentialRecord) -> CredentialRecord {
        guard let (host, _) = record.environment.cut(at: ":") else { return record }
        var record = record
        record.environment = String(host)
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
}

/// Where Azure Identity for Python keeps a cache of a name.
public struct AzureIdentityCache: Sendable {
    /// The longest name.
    private static let longestName = 64

    /// The schema of the item in the Secret Service.
    public let schema: String
    /// The item's only attribute.
    public let attributes = ["MsalClientID": "Microsoft.Developer.IdentityService"]
    /// The item's label.
    public let label = "MSALCache"
    /// The file in the person's home whose time says when the cache was changed.
    public let signal: String

    /// The cache of programs that don't answer claims challenges, which is the usual one; nil if it can't have such a name.
    public init?(named name: String) {
        let isPlain = name.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || [0x2D, 0x2E, 0x5F].contains(byte)
        }
        guard !name.isEmpty, name.utf8.count <= Self.longestName, isPlain, name.utf8.first != 0x2E else { return nil }
        schema = "\(name).nocae"
        signal = ".IdentityService/\(schema)"
    }

    /// The file that is there while somebody writes, in the person's home.
    public var lock: String { "\(signal).lockfile" }
}

extension SharedCache {
    /// What Azure Identity's libraries for Python have to be given for them to find an account in their cache.
    public static func authenticationRecord(of account: AccountRecord, clientID: String, tenant: String) -> JSONValue {
        // A host with a port is taken for a URL's scheme.
        let host = account.environment
        return .object([
            "authority": .string(host.hasBytes(":") ? "https://\(host)" : host), "clientId": .string(clientID),
            "homeAccountId": .string(account.homeAccountID), "tenantId": .string(tenant),
            "username": .string(account.username), "version": .string("1.0"),
        ])
    }
}
