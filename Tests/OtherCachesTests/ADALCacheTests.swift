import Foundation
import OtherCaches
import Testing
import TokenStore

/// What ADAL for Python kept.
@Suite struct ADALCacheTests {
    @Test func `refresh tokens and whose they are come from entries and their access tokens`() throws {
        let cache = try #require(OtherCache(adal: try Fixture.bytes("accessTokens.json")))
        let plan = ImportPlan(cache.records, stored: [], rules: Fixture.rules(clients: [Fixture.azureCLI]))
        #expect(plan.takenWords == ["0.adal-alice-newer", "alice@contoso.example"])
        #expect(plan.reason("0.adal-alice") == .newerFound)
        let token = try #require(plan.taken.first)
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

    @Test func `the configured client's tokens only`() throws {
        let cache = try #require(OtherCache(adal: try Fixture.bytes("accessTokens.json")))
        let plan = ImportPlan(cache.records, stored: [], rules: Fixture.rules())
        #expect(plan.taken.isEmpty)
        #expect(Set(plan.entries.map(\.skipped)) == [.otherClient, .noToken])
    }

    @Test(arguments: ["", "{}", "7", "[", "nonsense"])
    func `what is no list is refused`(_ text: String) {
        #expect(OtherCache(adal: Array(text.utf8)) == nil)
    }
}
