import Addresses
import JSON
import Keyring
import Model
import Secrets
import Testing
import Vectors

@testable import PluginHost
@testable import Rules
@testable import TokenAcquisition

/// The cases in `machine.json` about the cache keys of machines' and applications' tokens.
@Suite struct MachineVectorsTests {
    private static func vector(_ name: String) throws -> VectorCase {
        try #require(MachineVectors.followed.first { $0.id == "cache/\(name)" })
    }

    @Test func `an application's token has no account in its key`() throws {
        let vector = try Self.vector("app-token-python")
        let token = AccessTokenRecord(
            homeAccountID: nil, environment: try #require(vector.text("env")),
            clientID: try #require(vector.text("client")),
            realm: try #require(vector.text("tenant")), target: try #require(vector.text("scope")),
            secret: Secret("AT"),
            cachedAt: 0, expiresOn: 3600)
        #expect(CredentialRecord.accessToken(token).unifiedKey == vector.expected("key"))
    }

    @Test func `a machine's token is kept as MSAL keeps it`() throws {
        let vector = try Self.vector("managed-identity-client-field")
        #expect(Identity.machine.clientID == vector.expected("client"))
        let kept = try #require(AuthorityURL(Identity.machine.authority ?? ""))
        #expect(kept.host == vector.expected("environment") && kept.path.first == vector.expected("realm"))
    }

    @Test func `a user's token is none of the application's`() throws {
        let vector = try Self.vector("user-token-not-served-to-app")
        let cached = try #require(vector.input["cached"])
        let (client, scope) = (cached["client"]?.string ?? "", cached["scope"]?.string ?? "")
        let place = AuthorityKey(
            environment: "login.example", aliases: ["login.example"], realm: "contoso", policy: nil)
        let request = TokenRequest(
            "https://login.example/contoso", isConfigured: true, clientID: client, scopes: [scope])
        func fresh(_ stored: String?, for account: String?) -> AccessTokenRecord? {
            let account = account.map {
                AccountRecord(homeAccountID: $0, environment: "login.example", realm: "contoso", username: "")
            }
            var records = StoredRecords()
            records.accessTokens = [
                AccessTokenRecord(
                    homeAccountID: stored, environment: "login.example", clientID: client, realm: "contoso",
                    target: scope, secret: Secret("AT"), cachedAt: 0, expiresOn: 3600)
            ]
            return SilentSelection(records: records, place: place, account: account, request: request, now: 1)
                .freshToken
        }
        let user = cached["home_account_id"]?.string ?? ""
        #expect((fresh(user, for: nil) != nil) == (vector.expect["hit"] == .bool(true)))
        #expect(fresh(nil, for: nil) != nil && fresh(user, for: user) != nil && fresh(nil, for: user) == nil)
    }
}
