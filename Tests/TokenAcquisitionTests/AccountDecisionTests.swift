import Keyring
import PluginHost
import Secrets
import Testing

@testable import TokenAcquisition

extension AccountSelection {
    /// Returns a selection from accounts without any other stored records.
    static func of(
        _ accounts: [AccountRecord], at place: AuthorityKey, history: [SelectedAccount] = [], isShared: Bool = false
    ) -> AccountSelection {
        var records = StoredRecords()
        records.accounts = accounts
        return AccountSelection(records, at: place, history: history, isShared: isShared)
    }
}

/// The account for an authority's requests, and the reason for its choice.
@Suite struct AccountDecisionTests {
    private static let host = "login.example"
    private static let contoso = "11111111-2222-3333-4444-555555555555"
    private static let personal = "personal"
    private static let northwind = "99999999-2222-3333-4444-555555555555"

    private static func account(_ id: String, _ name: String, home: String, realm: String? = nil) -> AccountRecord {
        var account = AccountRecord(
            homeAccountID: "\(id).\(home)", environment: host, realm: realm ?? home, username: name)
        let domain = name.split(separator: "@").last.map(String.init)
        account.homeRealms = [home] + (home == personal || realm != nil ? [] : [domain].compactMap(\.self))
        return account
    }

    private static func place(_ realm: String) -> AuthorityKey {
        AuthorityKey(
            environment: host, aliases: [host, "login.alias.example"], realm: realm,
            sharedRealm: realm == "common" ? SharedRealm(name: realm) : nil, policy: nil)
    }

    private static let alice = account("a", "alice@contoso.example", home: contoso)
    private static let bob = account("b", "bob@contoso.example", home: contoso)
    private static let frank = account("f", "frank@northwind.example", home: northwind)
    private static let dave = account("d", "dave@contoso.example", home: personal)

    private static func choice(_ account: AccountRecord, _ authority: String? = nil) throws -> SelectedAccount {
        try #require(SelectedAccount(account, authority: authority))
    }

    /// Returns an expired access token, which still shows which account was used.
    private static func token(
        _ account: AccountRecord, at realm: String, client: String = "c", asked: String? = nil
    ) -> CredentialRecord {
        var token = AccessTokenRecord(
            homeAccountID: account.homeAccountID, environment: host, clientID: client, realm: realm, target: "s",
            secret: Secret("t"), cachedAt: 0, expiresOn: 1)
        token.requestedRealm = asked
        return .accessToken(token)
    }

    /// Returns the account and the reason; nil if there are several candidates.
    private static func decide(
        _ accounts: [AccountRecord], _ tokens: [CredentialRecord] = [], at realm: String,
        _ history: [SelectedAccount] = []
    ) throws -> AccountSelection.Chosen? {
        var records = StoredRecords()
        records.accounts = accounts
        for token in tokens { records.append(token) }
        let selection = AccountSelection(records, at: place(realm), clientID: "c", history: history)
        do { return try selection.decision(named: nil, hint: nil) } catch {
            #expect(error == .ambiguousAccount(selection.accounts))
            return nil
        }
    }

    private static func expect(
        _ decision: AccountSelection.Chosen?, _ account: AccountRecord, _ reason: AccountReason,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(decision?.account == account && decision?.reason == reason, sourceLocation: sourceLocation)
    }

    @Test func `where each path is an issuer, one takes no account of another`() {
        var carol = Self.account("c", "carol", home: "realms/a")
        carol.homeRealms = ["realms/a"]
        for (realm, isHers) in [("realms/A", true), ("realms/b", false), ("default", false)] {
            let place = AuthorityKey(
                environment: Self.host, aliases: [Self.host], realm: realm, policy: nil, isSeparate: true)
            #expect(AccountSelection.of([carol], at: place).used == (isHers ? carol : nil))
        }
    }

    @Test(arguments: [contoso, "contoso.example"])
    func `a tenant's authority means who is at home there, whoever was chosen elsewhere`(realm: String) throws {
        let all = [Self.alice, Self.frank, Self.dave]
        for history in [[], [try Self.choice(Self.frank)], [try Self.choice(Self.frank, "/northwind.example")]] {
            Self.expect(try Self.decide(all, at: realm, history), Self.alice, .atHome)
        }
        // A personal account has no home tenant, even with an address in its domain.
        #expect(try Self.decide([Self.frank, Self.dave], at: realm) == nil)
        #expect(try Self.decide([Self.alice, Self.bob, Self.frank], at: realm) == nil)
    }

    @Test func `the account that was chosen for the authority counts before a token, a token before the home`() throws {
        let all = [Self.alice, Self.bob, Self.frank]
        let tokens = [Self.token(Self.bob, at: Self.contoso)]
        Self.expect(try Self.decide(all, tokens, at: Self.contoso), Self.bob, .hasToken)
        let here = [try Self.choice(Self.alice, "/\(Self.contoso)")]
        Self.expect(try Self.decide(all, tokens, at: Self.contoso, here), Self.alice, .selectedHere)
        // This includes an account that has never signed in there: it may be a guest.
        let guest = [try Self.choice(Self.frank, "/\(Self.contoso)")]
        Self.expect(try Self.decide(all, tokens, at: Self.contoso, guest), Self.frank, .selectedHere)
    }

    @Test func `a choice for all counts where the account is known, and the later choice counts`() throws {
        let all = [Self.alice, Self.bob, Self.frank]
        let here = try Self.choice(Self.alice, "/\(Self.contoso)")
        let bob = try Self.choice(Self.bob)
        Self.expect(try Self.decide(all, at: Self.contoso, [bob, here]), Self.bob, .selected)
        Self.expect(try Self.decide(all, at: Self.contoso, [here, bob]), Self.alice, .selectedHere)
        let frank = try Self.choice(Self.frank)
        Self.expect(try Self.decide(all, at: Self.contoso, [frank, here]), Self.alice, .selectedHere)
        Self.expect(try Self.decide(all, at: "common", [frank, here]), Self.frank, .selected)
        // Once a guest has signed in there, a choice for all applies to that tenant, too.
        let visit = [Self.token(Self.frank, at: Self.contoso, client: "other")]
        Self.expect(try Self.decide(all, visit, at: Self.contoso, [frank, here]), Self.frank, .selected)
        // If no account is known there, the chosen one may be tried.
        Self.expect(try Self.decide(all, at: "tailspin.example", [frank, here]), Self.frank, .selected)
        #expect(try Self.decide(all, at: "tailspin.example", [here]) == nil)
    }

    @Test func `of several that have a token the one that was chosen last anywhere is meant`() throws {
        let all = [Self.alice, Self.bob]
        let tokens = all.map { Self.token($0, at: Self.contoso) }
        #expect(try Self.decide(all, tokens, at: Self.contoso) == nil)
        let history = [try Self.choice(Self.bob, "/common"), try Self.choice(Self.alice, "/common")]
        Self.expect(try Self.decide(all, tokens, at: Self.contoso, history), Self.bob, .hasToken)
    }

    @Test func `a guest is known by the id of a tenant that was asked for by its domain`() throws {
        let all = [Self.alice, Self.frank]
        let visit = Self.token(Self.frank, at: Self.contoso, asked: "Contoso.example")
        Self.expect(try Self.decide(all, [visit], at: "contoso.example"), Self.frank, .hasToken)
        // Another account's token reveals the tenant's ID, so a record with it shows which account was used.
        let id = [Self.token(Self.bob, at: Self.contoso, asked: "sub.contoso.example")]
        let profile = Self.account("f", "frank@northwind.example", home: Self.northwind, realm: Self.contoso)
        Self.expect(try Self.decide([Self.dave, profile], id, at: "sub.contoso.example"), profile, .hasBeenHere)
        // So does an account's record after a server rejected the token.
        var asked = profile
        asked.requestedRealm = "sub.contoso.example"
        Self.expect(try Self.decide([Self.dave, asked], at: "sub.contoso.example"), asked, .hasBeenHere)
    }

    @Test func `a token of another client, host or tenant tells nothing of this authority's client`() throws {
        let all = [Self.alice, Self.bob]
        var elsewhere = Self.token(Self.bob, at: Self.contoso)
        elsewhere.environment = "login.elsewhere.example"
        let tokens = [
            Self.token(Self.bob, at: Self.contoso, client: "other"), Self.token(Self.bob, at: Self.northwind),
            elsewhere,
        ]
        #expect(try Self.decide(all, tokens, at: Self.contoso) == nil)
    }

    @Test func `what was used before is known there`() throws {
        let records = { (accounts: [AccountRecord]) in
            var records = StoredRecords()
            records.accounts = accounts
            return records
        }
        func previous(_ accounts: [AccountRecord], _ history: [SelectedAccount]) -> AccountRecord? {
            AccountSelection(records(accounts), at: Self.place(Self.contoso), history: history).previous
        }
        let alice = try Self.choice(Self.alice, "/\(Self.contoso)")
        #expect(previous([Self.alice, Self.frank], [alice]) == nil)
        #expect(previous([Self.alice, Self.bob, Self.frank], [alice]) == Self.bob)
        let frank = try Self.choice(Self.frank, "/\(Self.contoso)")
        #expect(previous([Self.alice, Self.bob, Self.frank], [alice, frank]) == Self.frank)
    }
}
