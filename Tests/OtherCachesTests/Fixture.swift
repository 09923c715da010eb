import Foundation
import Keyring
import OtherCaches
import Secrets

/// Caches as the programs write them.
enum Fixture {
    static let azureCLI = "04b07795-8ddb-461a-bbee-02f9e1bf7b46"
    static let client = "11111111-2222-3333-4444-555555555555"
    static let tenant = "72f988bf-0000-4000-8000-00000000c0a7"
    static let home = "a11ce000-0000-4000-8000-00000000c0a7.\(tenant)"
    static let host = "login.microsoftonline.com"
    /// A time after the fixtures' past times and before their future ones.
    static let now = 1_800_000_000

    static func bytes(_ name: String) throws -> [UInt8] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures")
        return [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
    }

    static func rules(clients: Set<String>? = [client]) -> ImportRules {
        ImportRules(
            clientIDs: clients,
            environment: { host in
                let aliases = [Fixture.host, "login.windows.net", "sts.windows.net"]
                return aliases.contains(host.lowercased()) ? aliases : nil
            }, now: now)
    }

    static func refreshToken(
        _ secret: String, client: String = client, family: String? = nil, at moment: Int? = 1000, host: String = host
    ) -> CredentialRecord {
        var token = RefreshTokenRecord(
            homeAccountID: home, environment: host, clientID: client, secret: Secret(secret), familyID: family)
        token.lastModificationTime = moment
        return .refreshToken(token)
    }

    static func account(home: String = home, realm: String = tenant) -> CredentialRecord {
        .account(AccountRecord(homeAccountID: home, environment: host, realm: realm, username: "alice"))
    }

    static func family(of client: String, _ family: String?) -> CredentialRecord {
        .appMetadata(AppMetadataRecord(clientID: client, environment: host, familyID: family))
    }
}

extension ImportPlan {
    /// The secrets of the accepted records, or their placeholders if they have none.
    var importedWords: Set<String> { Set(imported.map(\.word)) }

    /// Returns why the record with a secret is skipped.
    func reason(_ word: String) -> SkipReason? { entries.first { $0.record.word == word }?.skipped }
}

extension CredentialRecord {
    var word: String {
        switch self {
        case .accessToken(let token): token.secret.reveal()
        case .exchanged(let result): result.whole.reveal()
        case .refreshToken(let token): token.secret.reveal()
        case .idToken: "ID token"
        case .account(let account): account.username
        case .appMetadata(let metadata): "client \(metadata.clientID)"
        }
    }
}
