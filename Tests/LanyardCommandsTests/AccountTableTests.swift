import Testing
import TokenStore

@testable import LanyardCommands
@testable import TokenAcquisition

/// How accounts are shown, on a terminal of 80 columns above all.
@Suite struct AccountTableTests {
    private static let tenant = "11111111-2222-3333-4444-555555555555"

    private static func known(
        _ id: String, _ username: String, name: String = "", tenant: String = tenant,
        environment: String = "login.example"
    ) -> KnownAccount {
        var account = AccountRecord(
            homeAccountID: "\(id).\(tenant)", environment: environment, realm: tenant, username: username)
        account.name = name
        return KnownAccount(
            account: account, profiles: [account], environments: [environment], clientIDs: ["c"], canRenew: false)
    }

    private static let long = known(
        "a", "maximiliane.von-und-zu-hohenlohe@very-long-name-of-a-company.onmicrosoft.example",
        name: "Maximiliane Prinzessin von und zu Hohenlohe", environment: "a-long-name-of-a-tenant.b2clogin.example")
    private static let forged = known("b", "bob@x.example\u{1B}[2J\u{202E}", name: "Bob\nlanyard: signed in")
    private static let nameless = known("c", "")

    @Test func `a table fits 80 columns, and is whole where nothing limits it`() {
        let known = KnownAccounts([Self.long, Self.forged, Self.nameless], history: [])
        let narrow = AccountTable(known).lines(width: 80)
        #expect(narrow.count == 4)
        #expect(narrow.allSatisfy { $0.count <= 80 }, "\(narrow)")
        #expect(narrow.contains { $0.contains("maximiliane.von-und-") })
        let wide = AccountTable(known).lines(width: nil).joined(separator: "\n")
        for text in ["company.onmicrosoft.example", "Prinzessin von und zu Hohenlohe", "c.\(Self.tenant)"] {
            #expect(wide.contains(text), "\(wide)")
        }
        #expect(!wide.unicodeScalars.contains("\u{1B}") && !wide.unicodeScalars.contains("\u{202E}"))
        #expect(wide.split(separator: "\n").count == 4)
    }

    @Test func `the current account is marked and comes first, then the one before`() throws {
        let (alice, bob, carol) = (Self.known("a", "alice"), Self.known("b", "bob"), Self.known("c", "carol"))
        let history = try [carol, bob].map { try #require($0.selected) }
        let known = KnownAccounts([alice, bob, carol], history: history)
        #expect(known.byUse == [carol, bob, alice])
        let marks = AccountTable(known).lines(width: 80).dropFirst().map { String($0.prefix(7)) }
        #expect(marks == ["* carol", "- bob  ", "  alice"])
        // The only other one is what `use -` means, though it never was chosen.
        #expect(KnownAccounts([alice, bob], history: history).previous == alice)
        #expect(KnownAccounts([alice, bob, carol], history: [history[0]]).previous == nil)
        #expect(KnownAccounts([alice], history: []).current == alice)
        #expect(KnownAccounts([alice, bob], history: []).current == nil)
    }

    @Test func `a list to pick from tells namesakes apart`() {
        let work = Self.known("a", "alice@x.example", name: "Alice").account
        let other = Self.known("b", "ALICE@x.example", name: "Alice", tenant: "99999999-2222-3333-4444-5").account
        let personal = Self.known("c", "alice@x.example", tenant: AuthorityPlace.consumersTenant).account
        #expect(
            [work, other, personal].labels == [
                "alice@x.example  Alice, work or school, tenant 11111111-2222…",
                "ALICE@x.example  Alice, work or school, tenant 99999999-2222…", "alice@x.example  personal",
            ])
        #expect([work, personal].namesToType == ["a.\(Self.tenant)", "c.\(AuthorityPlace.consumersTenant)"])
        #expect([work].namesApart == ["alice@x.example"])
        #expect([work, personal].namesApart.first == "alice@x.example (work or school, a.\(Self.tenant))")
    }
}
