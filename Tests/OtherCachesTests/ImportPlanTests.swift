import Foundation
import Keyring
import OtherCaches
import Secrets
import Testing

/// The parts of another program's cache that are imported.
@Suite struct ImportPlanTests {
    private func plan(
        _ found: [CredentialRecord], stored: [CredentialRecord] = [], clients: Set<String>? = [Fixture.client]
    ) -> ImportPlan {
        ImportPlan(found, stored: stored, rules: Fixture.rules(clients: clients))
    }

    @Test func `of the Azure CLI's cache only what the own client may use is taken`() throws {
        let cache = try #require(OtherCache(unified: try Fixture.bytes("msal_token_cache.json")))
        let plan = plan(cache.records)
        #expect(plan.importedWords == ["at-1111-44", "1.own-token", "alice@contoso.example"])
        #expect(plan.reason("1.az-family-token") == .otherFamily)
        #expect(plan.reason("1.foreign") == .unknownHost)
        #expect(plan.reason("1.x\nauthority=https://login.attacker.example") == .malformed)
        #expect(plan.reason("at-1111-32") == .expired)
        #expect(plan.reason("at-1111-52") == .boundToKey)
        #expect(plan.reason("at-9999-45") == .ownerless)
        #expect(plan.reason("at-04b0-101") == .otherClient)
        #expect(plan.reason("ID token") == .otherClient)
        #expect(plan.reason("bob@contoso.example") == .noToken)
        #expect(plan.reason("client \(Fixture.azureCLI)") == .otherClient)
        #expect(cache.rejects == [.init(what: "section Future", whose: "", reason: .unknownKind)])
    }

    @Test func `what an authority of many tenants issued goes under the tenant that it is for`() throws {
        let cache = try #require(OtherCache(unified: try Fixture.bytes("many_tenants.json")))
        var realms: [String: String] = [:]
        for record in cache.records {
            switch record {
            case .accessToken(let token):
                realms[record.word] = token.realm
                #expect(token.requestedRealm == (token.realm == "organizations" ? nil : token.secret.asked))
            case .account(let account): realms[record.word] = account.realm
            case .idToken(let token): realms["ID token of \(token.clientID.prefix(1))"] = token.realm
            case .refreshToken, .appMetadata, .exchanged: break
            }
        }
        let consumers = "9188040d-6c67-4c5b-b112-36a304b66dad"
        let told = "fab81ca0-0000-4000-8000-0000fab81ca0"
        #expect(
            realms == [
                "at-organizations": Fixture.tenant, "at-common": told, "at-consumers": consumers,
                // Nothing better is known about an account without a home tenant.
                "at-nowhere": "organizations", "alice@contoso.example": Fixture.tenant,
                "dave@outlook.example": consumers, "ID token of 1": Fixture.tenant, "ID token of 2": told,
            ])
    }

    @Test func `whatever ends an import, no token is stored without its account`() throws {
        let cache = try #require(OtherCache(unified: try Fixture.bytes("msal_token_cache.json")))
        let taken = plan(cache.records, clients: nil).imported
        let accounts = Set(taken.filter { $0.kind == .account }.compactMap(\.homeAccountID))
        #expect(accounts.count > 1)
        for (index, record) in taken.enumerated() where record.kind != .account {
            guard let home = record.homeAccountID, accounts.contains(home) else { continue }
            #expect(taken[..<index].contains { $0.kind == .account && $0.homeAccountID == home })
        }
    }

    @Test func `base64 of a cache is read as the cache is`() throws {
        let bytes = try Fixture.bytes("msal_token_cache.json")
        let base64 = Array(Data(bytes).base64EncodedString(options: .lineLength76Characters).utf8)
        #expect(OtherCache(unified: base64) == OtherCache(unified: bytes))
    }

    @Test(arguments: ["", "[]", "7", "null", "bm8=", "%%%", "{", String(repeating: "[", count: 1000)])
    func `what is no cache is refused`(_ text: String) {
        #expect(OtherCache(unified: Array(text.utf8)) == nil)
    }

    @Test(arguments: [("1", true), ("2", false), ("", false), (nil, false)] as [(String?, Bool)])
    func `a family's refresh token is taken where the own client is known to be in it`(
        _ family: String?, _ isTaken: Bool
    ) {
        let token = Fixture.refreshToken("family's", client: Fixture.azureCLI, family: "1")
        let known = Fixture.family(of: Fixture.client, family)
        #expect(plan([token], stored: [known]).importedWords.contains("family's") == isTaken)
        #expect(plan([token, known]).importedWords.contains("family's") == isTaken)
        let others = Fixture.family(of: Fixture.azureCLI, family)
        #expect(!plan([token, others]).importedWords.contains("family's"))
    }

    @Test func `a record goes under its authority's first host, or under the host of the one it replaces`() throws {
        let found = Fixture.refreshToken("new", at: 2000, host: "LOGIN.windows.net")
        #expect(plan([found]).imported == [Fixture.refreshToken("new", at: 2000)])
        let stored = Fixture.refreshToken("old", host: "sts.windows.net")
        #expect(
            plan([found], stored: [stored]).imported == [Fixture.refreshToken("new", at: 2000, host: "sts.windows.net")]
        )
    }

    @Test(
        arguments: [
            (2000, 1000, nil), (1000, 2000, .newerStored), (1000, 1000, .newerStored), (nil, 1000, .newerStored),
            (1, nil, nil), (nil, nil, .newerStored),
        ] as [(Int?, Int?, SkipReason?)])
    func `only a newer token replaces a stored one`(_ found: Int?, _ stored: Int?, _ reason: SkipReason?) {
        let plan = plan(
            [Fixture.refreshToken("found", at: found)], stored: [Fixture.refreshToken("stored", at: stored)])
        #expect(plan.entries.map(\.skipped) == [reason])
    }

    @Test func `what is stored already is told apart from what is older`() {
        let token = Fixture.refreshToken("same")
        #expect(plan([token], stored: [token]).entries.map(\.skipped) == [.stored])
        #expect(plan([token, Fixture.account()], stored: [token]).importedWords == ["alice"])
        #expect(plan([Fixture.account()], stored: [token, Fixture.account()]).entries.map(\.skipped) == [.stored])
        let untold = Fixture.family(of: Fixture.client, nil)
        let told = Fixture.family(of: Fixture.client, "1")
        #expect(plan([told], stored: [untold]).imported == [told])
        #expect(plan([untold], stored: [told]).imported.isEmpty)
    }

    @Test func `a token for another resource is another credential`() {
        func token(_ secret: String, for resource: String?, at moment: Int) -> CredentialRecord {
            var token = AccessTokenRecord(
                homeAccountID: Fixture.home, environment: Fixture.host, clientID: Fixture.client,
                realm: Fixture.tenant, target: "read", secret: Secret(secret), cachedAt: moment,
                expiresOn: Fixture.now + 3600)
            token.resourceIndicators = resource
            return .accessToken(token)
        }
        let stored = token("stored", for: "https://a.example", at: 2000)
        for resource in ["https://b.example", nil] {
            #expect(plan([token("found", for: resource, at: 1000)], stored: [stored]).importedWords == ["found"])
        }
        let same = plan([token("found", for: "https://a.example", at: 1000)], stored: [stored])
        #expect(same.reason("found") == .newerStored)
        let both = [token("one", for: "https://a.example", at: 1), token("two", for: "https://b.example", at: 2)]
        #expect(plan(both).importedWords == ["one", "two"])
    }

    @Test func `of one credential found twice the newest counts, whatever its keys and aliases`() {
        let plan = plan([
            Fixture.refreshToken("older", at: 1000), Fixture.refreshToken("newer", at: 2000, host: "login.windows.net"),
        ])
        #expect(plan.importedWords == ["newer"])
        #expect(plan.reason("older") == .newerFound)
    }

    @Test func `a document of one's own is taken whole, but for hosts that nobody knows`() throws {
        let cache = try #require(OtherCache(unified: try Fixture.bytes("msal_token_cache.json")))
        let plan = plan(cache.records, clients: nil)
        #expect(
            plan.importedWords.isSuperset(of: [
                "1.az-family-token", "1.own-token", "at-04b0-101", "bob@contoso.example",
            ]))
        #expect(plan.reason("1.foreign") == .unknownHost)
        #expect(plan.reason("at-1111-32") == .expired)
    }
}

extension Secret {
    /// The realm in the fixture's token request.
    fileprivate var asked: String { String(reveal().dropFirst("at-".count)) }
}
