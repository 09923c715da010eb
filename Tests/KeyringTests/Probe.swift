import Keyring
import Secrets
import TestSupport

extension KeyringFixture {
    /// Runs one operation of the store in a process with this keyring.
    func probe(
        _ operation: String, _ options: [String: String] = [:], environment: [String: String] = [:],
        input: String = ""
    ) async throws -> Ended {
        let arguments = options.sorted { $0.key < $1.key }.flatMap { ["--" + $0.key, $0.value] }
        return try await run(Built.storeProbe, arguments + [operation], environment: environment, input: input)
    }

    /// Stores records, and returns the process's output.
    @discardableResult
    func save(_ records: [CredentialRecord], _ options: [String: String] = [:]) async throws -> Ended {
        try await probe("save", options, input: String(decoding: UnifiedCache(records).json(), as: UTF8.self))
    }

    /// Returns the matching records.
    func records(_ options: [String: String] = [:]) async throws -> [CredentialRecord] {
        let result = try await probe("records", options)
        let document = result.output.split(separator: "\n").first.map { Array($0.utf8) } ?? []
        guard let cache = UnifiedCache(json: document) else { throw ProbeFailure(output: result.output) }
        return cache.records
    }
}

/// A probe's output in place of an answer.
struct ProbeFailure: Error {
    let output: String
}

/// An account's records for tests.
enum Sample {
    static let home = "uid.utid"
    static let environment = "login.microsoftonline.com"
    static let client = "00000000-0000-0000-0000-000000000001"
    static let realm = "contoso-id"

    static func accessToken(_ target: String = "User.Read", secret: String = "at", realm: String = realm)
        -> CredentialRecord
    {
        .accessToken(
            AccessTokenRecord(
                homeAccountID: home, environment: environment, clientID: client, realm: realm, target: target,
                secret: Secret(secret), cachedAt: 1000, expiresOn: 4600))
    }

    static func refreshToken(_ secret: String = "rt", family: String? = nil, client: String = client)
        -> CredentialRecord
    {
        .refreshToken(
            RefreshTokenRecord(
                homeAccountID: home, environment: environment, clientID: client, secret: Secret(secret),
                familyID: family))
    }

    static let idToken = CredentialRecord.idToken(
        IDTokenRecord(
            homeAccountID: home, environment: environment, clientID: client, realm: realm, secret: Secret("a.b.c")))

    static let account = CredentialRecord.account(
        AccountRecord(homeAccountID: home, environment: environment, realm: realm, username: "alice@contoso.example"))

    static let appMetadata = CredentialRecord.appMetadata(
        AppMetadataRecord(clientID: client, environment: environment, familyID: "1"))

    static let all = [accessToken(), refreshToken(), idToken, account, appMetadata]
}
