import Foundation
import Keyring
import OtherCaches
import Testing

/// Caches of ADAL for Python.
@Suite struct ADALCacheTests {
    @Test func `refresh tokens and whose they are come from entries and their access tokens`() throws {
        let cache = try #require(OtherCache(adal: try Fixture.bytes("accessTokens.json")))
        let plan = ImportPlan(cache.records, stored: [], rules: Fixture.rules(clients: [Fixture.azureCLI]))
        // The account goes first: whatever ends an import, no token is left without its account.
        #expect(plan.importedWords == ["alice@contoso.example", "0.adal-alice-newer"])
        #expect(plan.reason("0.adal-alice") == .newerFound)
        let token = try #require(plan.imported.last)
        guard case .refreshToken(let refresh) = token else {
            Issue.record("no refresh token: \(token)")
            return
        }
        #expect(refresh.homeAccountID == Fixture.home)
        #expect((refresh.environment, refresh.clientID) == (Fixture.host, Fixture.azureCLI))
        let local = DateFormatter()
        local.locale = Locale(identifier: "en_US_POSIX")
        local.dateFormat = "yyyy-MM-dd HH:mm:ss"
        let end = try #require(local.date(from: "2021-05-02 12:34:56"))
        #expect(refresh.lastModificationTime == Int(end.timeIntervalSince1970) - 3599)
    }

    @Test func `guests, applications and tokens for one resource are refused with the reason`() throws {
        let cache = try #require(OtherCache(adal: try Fixture.bytes("accessTokens.json")))
        #expect(cache.rejects.map(\.reason) == [.guest, .oneResource, .ownerless, .malformed, .malformed])
        #expect(
            cache.rejects.map(\.whose).prefix(3) == [
                "live.com#eve@outlook.example", "bob@contoso.example", "http://ci-app",
            ])
    }

    @Test(
        arguments: [
            ("https://LOGIN.microsoftonline.com/common", "login.microsoftonline.com"),
            ("https://login.microsoftonline.com:443/common", "login.microsoftonline.com"),
            ("https://login.microsoftonline.com:8443/common", "login.microsoftonline.com:8443"),
            ("https://login.microsoftonline.com@attacker.example/common", nil),
            ("https://attacker.example\\@login.microsoftonline.com/common", nil),
            ("https://login.microsoftonline.com\u{301}/common", nil), ("https://login.microsoftonline.com", nil),
            ("http://login.microsoftonline.com/common", nil), ("https:///login.microsoftonline.com/common", nil),
        ] as [(String, String?)])
    func `the host of an authority is the one that every program reads`(_ authority: String, _ host: String?) throws {
        let entry = [
            "refreshToken": "rt", "_clientId": Fixture.azureCLI, "userId": "alice", "oid": "o", "tenantId": "t",
            "_authority": authority,
        ]
        let cache = try #require(OtherCache(adal: [UInt8](try JSONEncoder().encode([entry]))))
        #expect(cache.records.map(\.environment) == (host.map { [$0, $0] } ?? []))
        #expect(cache.rejects.map(\.reason) == (host == nil ? [.malformed] : []))
    }

    @Test func `the configured client's tokens only`() throws {
        let cache = try #require(OtherCache(adal: try Fixture.bytes("accessTokens.json")))
        let plan = ImportPlan(cache.records, stored: [], rules: Fixture.rules())
        #expect(plan.imported.isEmpty)
        #expect(Set(plan.entries.map(\.skipped)) == [.otherClient, .noToken])
    }

    @Test(arguments: ["", "{}", "7", "[", "nonsense"])
    func `what is no list is refused`(_ text: String) {
        #expect(OtherCache(adal: Array(text.utf8)) == nil)
    }
}
