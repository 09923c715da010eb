import Keyring
import Model
import PluginHost
import PluginWire
import Secrets
import Testing

@testable import Rules
@testable import TokenAcquisition

/// A plugin's information about an account, and the part that is stored.
@Suite struct AccountOfResultTests {
    private static func made(
        _ account: PluginAccount, idToken: String? = "i", at policy: String? = nil, known: [AccountRecord] = []
    ) throws -> AccountRecord {
        var result = PluginResult(
            accessToken: Secret("t"), expiresIn: 1, scopes: [], environment: "h", realm: "R", account: account)
        result.idToken = idToken.map { Secret($0) }
        let request = TokenRequest("https://h/common", isConfigured: true, clientID: "c", scopes: [])
        let place = AuthorityKey(environment: "h", aliases: ["h"], realm: "common", policy: policy)
        var records = RecordsOfResult(result: result, request: request, place: place, redeemed: nil, now: 0)
        records.stored.accounts = known
        return try #require(records.account)
    }

    private static var told: PluginAccount {
        var account = PluginAccount(homeAccountID: "sub@github.com", username: "u")
        account.homeRealms = ["R", "Contoso.example"]
        account.kind = "work or school"
        return account
    }

    @Test func `its home, kind, policy and authority are kept`() throws {
        let record = try Self.made(Self.told, at: "P_1")
        #expect(record.homeRealms == ["r", "contoso.example"] && record.homeRealm == "r" && record.isHome)
        #expect(record.kind == "work or school" && record.policy == "p_1" && record.authority == "https://h/common")
        let json = CredentialRecord.account(record).json
        #expect(CredentialRecord(kind: .account, json: json) == .account(record))
    }

    @Test func `nothing is read out of its identifier`() throws {
        let record = try Self.made(PluginAccount(homeAccountID: "sub@github.com", username: "u"))
        #expect(record.homeRealm == nil && record.kind == nil && record.policy == nil && record.isHome)
    }

    @Test func `a renewal that tells less of it changes nothing`() throws {
        let known = try Self.made(Self.told)
        var less = Self.told
        less.homeRealms = ["R"]
        less.kind = nil
        let renewed = try Self.made(less, idToken: nil, known: [known])
        #expect(renewed.homeRealms == known.homeRealms && renewed.kind == known.kind)
        #expect(try Self.made(less, known: [known]).homeRealms == ["r"])
    }
}
