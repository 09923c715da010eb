import Foundation
import Keyring
import Testing

@testable import CommandKit
@testable import Commands
@testable import Diagnosis
@testable import PluginHost
@testable import TokenAcquisition

/// The display of accounts, mainly on a terminal of 80 columns.
@Suite struct AccountTableTests {
    private static let tenant = "11111111-2222-3333-4444-555555555555"

    private static func known(
        _ id: String, _ username: String, name: String = "", tenant: String = tenant,
        environment: String = "login.example"
    ) -> AccountRecord {
        var account = AccountRecord(
            homeAccountID: "\(id).\(tenant)", environment: environment, realm: tenant, username: username)
        account.name = name
        account.homeRealms = [tenant] + (username.split(separator: "@").dropFirst().map(String.init))
        account.kind = "work or school"
        return account
    }

    /// A plugin in which `common` stands for all tenants.
    private static var registry: PluginRegistry {
        var plugin = PluginManifest(name: "p")
        plugin.authorities = [AuthorityPattern(hosts: ["login.example"], path: [.realm])]
        plugin.sharedRealms = [SharedRealm(name: "common")]
        return PluginRegistry(plugins: [plugin])
    }

    /// Returns the accounts with choices: each for all authorities, or for the one at a path.
    private static func accounts(
        _ all: [AccountRecord], _ choices: [(AccountRecord, String?)] = []
    ) throws -> KnownAccounts {
        var records = StoredRecords()
        records.accounts = all
        let history = try choices.map { try #require(SelectedAccount($0.0, authority: $0.1)) }
        return KnownAccounts(AccountOverview(records, registry: registry, history: history))
    }

    private static let long = known(
        "a", "maximiliane.hohenlohe@firm.onmicrosoft.example",
        name: "Maximiliane Prinzessin von und zu Hohenlohe", environment: "a-long-name-of-a-tenant.b2clogin.example")
    private static let forged = known("b", "bob@x.example\u{1B}[2J\u{202E}", name: "Bob\nlanyard: signed in")
    private static let nameless = known("c", "")

    /// Plugins for tenants, and for hosts that are issuers themselves.
    private static var withForges: PluginRegistry {
        var forges = PluginManifest(name: "f")
        forges.authorities = [AuthorityPattern(hosts: ["*"], path: [.rest])]
        var tenants = registry.plugins
        tenants[0].authorities.append(AuthorityPattern(hosts: ["*"], path: [.realm]))
        return PluginRegistry(plugins: tenants + [forges])
    }

    private static func forge(_ id: String, _ username: String, at host: String) -> AccountRecord {
        var account = known(id, username, tenant: "default", environment: host)
        account.homeRealms = id == "a" ? ["default"] : []
        account.kind = "GitLab"
        return account
    }

    @Test func `accounts of hosts without tenants are told by their hosts`() throws {
        var records = StoredRecords()
        let (one, other) = (Self.forge("a", "ann", at: "git.example"), Self.forge("b", "ann", at: "lab.example"))
        records.accounts = [one, other]
        let chosen = try #require(SelectedAccount(one, authority: "/default"))
        let known = KnownAccounts(AccountOverview(records, registry: Self.withForges, history: [chosen]))
        let lines = AccountTable(known).lines(width: 80)
        #expect(!lines.joined().contains("TENANTS") && !lines.joined().contains("default"), "\(lines)")
        #expect(lines.contains { $0.contains("* ann") && $0.contains("git.example") }, "\(lines)")
        #expect(known.places(of: known.all[0]).map(\.url) == ["https://git.example"])
        #expect([one, other].labels == ["ann  GitLab, at git.example", "ann  GitLab, at lab.example"])
        // A choice for all can only mean the host that accepts the account.
        let everywhere = try #require(SelectedAccount(one))
        let wide = KnownAccounts(AccountOverview(records, registry: Self.withForges, history: [everywhere, chosen]))
        #expect(!AccountTable(wide).lines(width: nil).joined().contains(" all"))
        #expect(wide.issuer(of: one)?.url == "https://git.example" && wide.issuer(of: Self.long) == nil)
        records.accounts.append(Self.known("c", "carol@x.example"))
        let mixed = KnownAccounts(AccountOverview(records, registry: Self.withForges, history: [chosen]))
        let all = AccountTable(mixed).lines(width: nil)
        #expect(all[0].contains("TENANTS") && all[0].contains("AUTHORITY"), "\(all)")
        #expect(all.contains { $0.contains("carol@x.example") && $0.contains("x.example  login.example") }, "\(all)")
        #expect(!all.joined().contains("default"), "\(all)")
    }

    @Test func `hosts are whole on 80 columns, whatever else has to go`() throws {
        var records = StoredRecords()
        let hosts = ["gitlab.contoso.example", "gitea.fabrikam.example"]
        records.accounts =
            hosts.enumerated().map { Self.forge("\($0)", "bob", at: $1) }
            + [Self.known("c", "carol@contoso.example", name: "Carol Carpenter")]
        let choices = try records.accounts.map {
            try #require(SelectedAccount($0, authority: $0.kind == "GitLab" ? "/default" : "/contoso.example"))
        }
        let known = KnownAccounts(AccountOverview(records, registry: Self.withForges, history: choices))
        let lines = AccountTable(known).lines(width: 80)
        #expect(lines.count == 4 && lines.allSatisfy { $0.count <= 80 }, "\(lines)")
        for host in hosts {
            let used = lines.contains { $0.components(separatedBy: host).count == 3 }
            #expect(used, "once for what it is used for, once for where it is: \(lines)")
        }
        #expect(lines[0].contains("USED FOR") && lines[0].contains("AUTHORITY"), "\(lines)")
        #expect(!lines.joined().contains("…"), "\(lines)")
    }

    @Test(arguments: [false, true])
    func `a table fits 80 columns, and is whole where nothing limits it`(isChosen: Bool) throws {
        let path = "/11111111-2222-3333-4444-555555555555/b2c_1_a_policy_with_a_name_that_goes_on_and_on"
        let there = "/\(Self.tenant)"
        let known = try Self.accounts(
            [Self.long, Self.forged, Self.nameless], isChosen ? [(Self.long, path), (Self.forged, there)] : [])
        let narrow = AccountTable(known).lines(width: 80)
        // The hosts have separate lines.
        #expect(narrow.count == 7 && narrow.contains("      \(Self.long.environment)"), "\(narrow)")
        #expect(narrow.allSatisfy { $0.count <= 80 }, "\(narrow)")
        // Everything that users type is complete, and two columns that they don't need for that are omitted.
        #expect(narrow.contains { $0.contains("maximiliane.hohenlohe@firm.onmicrosoft.example  ") })
        #expect(narrow[0].contains("USED FOR") == isChosen && narrow[0].contains("RENEWS"))
        #expect(!narrow[0].contains("NAME") && !narrow[0].contains("KIND"), "\(narrow)")
        let wide = AccountTable(known).lines(width: nil).joined(separator: "\n")
        for text in ["KIND", "firm.onmicrosoft.example", "Prinzessin von und zu Hohenlohe", "c.\(Self.tenant)"] {
            #expect(wide.contains(text), "\(wide)")
        }
        #expect(!wide.unicodeScalars.contains("\u{1B}") && !wide.unicodeScalars.contains("\u{202E}"))
        #expect(wide.split(separator: "\n").count == 4)
    }

    @Test func `an account's name is whole on any screen, and columns that have room are only cut`() throws {
        let name = "max.mustermann@firm.onmicrosoft.example"
        let account = Self.known("a", name, name: "Maximilian Mustermann the Younger")
        let lines = AccountTable(try Self.accounts([account])).lines(width: 80)
        #expect(lines.allSatisfy { $0.count <= 80 } && lines[0].contains("NAME"), "\(lines)")
        #expect(lines[1].hasPrefix("* \(name)  Max") && lines[1].contains("…"), "\(lines)")
        #expect(AccountTable(try Self.accounts([account])).lines(width: 10)[1] == "* \(name)  no")
    }

    @Test func `the account that was chosen last is marked and comes first, then the one before`() throws {
        let (alice, bob, carol) = (Self.known("a", "alice"), Self.known("b", "bob"), Self.known("c", "carol"))
        let known = try Self.accounts([alice, bob, carol], [(carol, nil), (bob, nil)])
        #expect(known.byUse.map(\.account) == [carol, bob, alice])
        let marks = AccountTable(known).lines(width: 80).dropFirst().map { String($0.prefix(7)) }
        #expect(marks == ["* carol", "- bob  ", "  alice"])
        // The only other account is what `use -` means, although it was never chosen.
        let two = try Self.accounts([alice, bob], [(bob, nil)])
        #expect(two.previous?.account.account == alice && two.previous?.place == nil)
        #expect(try Self.accounts([alice, bob, carol], [(carol, nil)]).previous == nil)
        #expect(try Self.accounts([alice]).current?.account == alice)
        #expect(try Self.accounts([alice, bob]).current == nil)
    }

    @Test func `the table tells which account is used where`() throws {
        let (alice, bob) = (Self.known("a", "alice@contoso.example"), Self.known("b", "bob@contoso.example"))
        let frank = Self.known("f", "frank@northwind.example", tenant: "99999999-2222-3333-4444-555555555555")
        func table(_ choices: [(AccountRecord, String?)]) throws -> [String] {
            AccountTable(try Self.accounts([alice, bob, frank], choices)).lines(width: nil).dropFirst().map { line in
                let words = line.split(separator: " ").joined(separator: " ")
                return words.components(separatedBy: " work or school")[0]
            }
        }
        let apart = [(frank, "/northwind.example"), (alice, "/contoso.example"), (alice, "/common")]
        #expect(
            try table(apart) == [
                "* frank@northwind.example northwind.example", "* alice@contoso.example contoso.example, common",
                "bob@contoso.example",
            ])
        // Frank's tenant doesn't know Alice, so choosing her for all changes nothing there.
        #expect(
            try table([(alice, nil)] + apart) == [
                "* alice@contoso.example all but northwind.example", "* frank@northwind.example northwind.example",
                "bob@contoso.example",
            ])
        #expect(
            try table([(bob, nil), (alice, "/common")]) == [
                "* bob@contoso.example all", "- alice@contoso.example", "frank@northwind.example",
            ])
        #expect(try table([(frank, "/\(Self.tenant)")])[0] == "* frank@northwind.example contoso.example")
    }

    @Test func `a tenant is called by its domain if any record tells it`() throws {
        let guest = "99999999-2222-3333-4444-555555555555"
        let alice = Self.known("a", "alice@contoso.example")
        var there = alice
        there.realm = guest
        func tenants(_ accounts: [AccountRecord]) throws -> String? {
            let lines = AccountTable(try Self.accounts(accounts)).lines(width: nil)
            return lines.first { $0.contains("alice") }?.components(separatedBy: "work or school  ").last
        }
        #expect(try tenants([alice, there]) == "contoso.example, guest in 99999999  no")
        // A name that stands for any tenant isn't a tenant's name, and neither is another ID.
        for name in ["common", "88888888-2222-3333-4444-555555555555", guest] {
            there.requestedRealm = name
            #expect(try tenants([alice, there])?.contains("guest in 99999999 ") == true, "\(name)")
        }
        there.requestedRealm = "northwind.onmicrosoft.example"
        #expect(try tenants([alice, there])?.contains("guest in northwind.onmicrosoft.example ") == true)
        // A plugin's name for an account's home takes precedence over the one in a URL.
        let frank = Self.known("f", "frank@northwind.example", tenant: guest)
        #expect(try tenants([alice, there, frank])?.contains("guest in northwind.example ") == true)
    }

    @Test func `what was used before is another account of the same authority`() throws {
        let (alice, bob) = (Self.known("a", "alice@contoso.example"), Self.known("b", "bob@contoso.example"))
        let frank = Self.known("f", "frank@northwind.example", tenant: "99999999-2222-3333-4444-555555555555")
        let apart = try Self.accounts([alice, frank], [(frank, "/northwind.example"), (alice, "/contoso.example")])
        #expect(apart.previous == nil && apart.current == nil)
        let chosen = try Self.accounts([alice, bob, frank], [(bob, "/contoso.example"), (alice, "/contoso.example")])
        #expect(chosen.previous?.account.account == alice && chosen.previous?.place?.path == "/contoso.example")
        #expect(chosen.current?.account == bob)
        // The only other account that the tenant knows, although she was never chosen for it.
        let other = try Self.accounts([alice, bob, frank], [(bob, "/contoso.example")])
        #expect(other.previous?.account.account == alice)
    }

    @Test func `a list to pick from tells namesakes apart`() {
        let work = Self.known("a", "alice@x.example", name: "Alice")
        let other = Self.known("b", "ALICE@x.example", name: "Alice", tenant: "99999999-2222-3333-4444-5")
        var personal = Self.known("c", "alice@x.example", tenant: "personal")
        personal.kind = "personal"
        #expect(
            [work, other, personal].labels == [
                "alice@x.example  Alice, work or school, tenant 11111111-2222…",
                "ALICE@x.example  Alice, work or school, tenant 99999999-2222…", "alice@x.example  personal",
            ])
        var elsewhere = work
        elsewhere.environment = "id.example"
        let names = ["alice@x.example@login.example", "alice@x.example@id.example"]
        #expect([work, elsewhere].namesToType == names && [work, elsewhere].namesApart == names)
        #expect([work, personal].namesToType == ["a.\(Self.tenant)", "c.personal"])
        #expect([work].namesApart == ["alice@x.example"])
        #expect([work, personal].namesApart.first == "alice@x.example (work or school, a.\(Self.tenant))")
    }
}
