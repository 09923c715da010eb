import JSON
import Keyring
import Model
import PluginHost
import Secrets
import Testing
import Vectors

@testable import Rules
@testable import TokenAcquisition

/// Which account is selected, and what a sign-out removes.
@Suite struct AccountTests {
    private static let host = "login.microsoftonline.com"
    private static let tenant = "11111111-2222-3333-4444-555555555555"

    private static func account(_ id: String, _ username: String) -> AccountRecord {
        let home = id.split(separator: ".").last.map(String.init) ?? ""
        var account = AccountRecord(homeAccountID: id, environment: host, realm: home, username: username)
        account.homeRealms = [home]
        return account
    }

    private static func selected(_ id: String, at environment: String = host) throws -> SelectedAccount {
        try #require(SelectedAccount(homeAccountID: id, environment: environment))
    }

    private static let place = AuthorityKey(
        environment: host, aliases: [host, "login.windows.net"], realm: "common",
        sharedRealm: SharedRealm(name: "common"), policy: nil)
    private let alice = account("a.\(tenant)", "alice@contoso.example")
    private let bob = account("b.\(tenant)", "bob@contoso.example")
    /// The same address as Alice's work account.
    private let personal = account("p.personal", "alice@contoso.example")

    @Test func `the account that was chosen last is meant, under any host of its environment`() throws {
        let history = [
            try Self.selected("z.z"), try Self.selected("a.\(Self.tenant)", at: "login.example"),
            try Self.selected("B.\(Self.tenant)", at: "login.windows.net"), try Self.selected("a.\(Self.tenant)"),
        ]
        let known = AccountSelection.of([alice, bob, personal], at: Self.place, history: history)
        #expect(known.recent == [bob, alice])
        #expect(known.accounts == [bob, alice, personal])
        #expect(try known.decision(named: nil, hint: nil)?.account == bob)
        #expect(try known.decision(named: nil, hint: "contoso")?.account == bob)
        #expect(try known.decision(named: nil, hint: "ALICE@contoso.example")?.account == alice)
        #expect(try known.decision(named: "alice@contoso.example", hint: nil)?.account == alice)
        #expect(try known.decision(named: personal.homeAccountID, hint: "bob@contoso.example")?.account == personal)
    }

    @Test func `of two accounts of one name the chosen one is meant, and without a choice neither`() throws {
        let known = AccountSelection.of([alice, personal], at: Self.place)
        #expect(throws: AcquisitionError.ambiguousAccount([alice, personal])) {
            try known.decision(named: "alice@contoso.example", hint: nil)?.account
        }
        let chosen = AccountSelection.of(
            [alice, personal], at: Self.place, history: [try Self.selected(personal.homeAccountID)])
        #expect(try chosen.decision(named: "alice@contoso.example", hint: nil)?.account == personal)
    }

    @Test func `on a shared device several are an error whichever was chosen`() throws {
        let history = [try Self.selected(bob.homeAccountID)]
        let known = AccountSelection.of([alice, bob], at: Self.place, history: history, isShared: true)
        #expect(throws: AcquisitionError.ambiguousAccount([bob, alice], isShared: true)) {
            try known.decision(named: nil, hint: nil)?.account
        }
        #expect(try known.decision(named: "alice@contoso.example", hint: nil)?.account == alice)
        let alone = AccountSelection.of([alice], at: Self.place, history: history, isShared: true)
        #expect(try alone.decision(named: nil, hint: nil)?.account == alice)
    }

    @Test(arguments: [
        "alice@contoso.example", "ALICE@CONTOSO.EXAMPLE", "  Alice@Contoso.Example\t", "A.\(tenant)", "OID-HOME",
        "oid-guest", "alt-1",
    ])
    func `older tools' words for an account find it`(_ name: String) throws {
        var home = alice
        home.localAccountID = "oid-home"
        home.other["alternative_account_id"] = .string("ALT-1")
        var guest = alice
        guest.realm = "fabrikam"
        guest.localAccountID = "oid-guest"
        let known = AccountSelection.of([home, guest, bob], at: Self.place)
        #expect(try known.decision(named: name, hint: nil)?.account == home)
        #expect(try known.decision(named: nil, hint: name)?.account == home)
    }

    @Test func `a user name that is an account's finds that account or nobody`() throws {
        let (ann, ben) = (Self.account("a.host", "ann"), Self.account("b.host", "ben"))
        func decision(_ name: String, among accounts: [AccountRecord]) throws -> AccountSelection.Chosen? {
            try AccountSelection.of(accounts, at: Self.place).decision(named: nil, hint: name, hintIsAccount: true)
        }
        #expect(try decision("ANN", among: [ann, ben]) == .init(account: ann, reason: .username))
        for (name, known) in [("ben", [ann]), ("ben@contoso.example", [ann, ben]), ("ben", [])] {
            #expect(throws: AcquisitionError.noSuchAccount(name, known: known)) { try decision(name, among: known) }
        }
        // The account in the rule or the request takes precedence.
        let known = AccountSelection.of([ann, ben], at: Self.place)
        #expect(try known.decision(named: "ben", hint: "cleo", hintIsAccount: true)?.account == ben)
    }

    @Test(arguments: ["", "42"])
    func `an account whose name nobody knows may be the one in the URL`(username: String) throws {
        let ann = Self.account("a.host", "ann")
        var nameless = Self.account("n.host", username)
        nameless.localAccountID = "42"
        let known = AccountSelection.of([ann, nameless], at: Self.place)
        #expect(try known.decision(named: nil, hint: "ben", hintIsAccount: true)?.account == nameless)
        #expect(try known.decision(named: nil, hint: "ann", hintIsAccount: true)?.account == ann)
        #expect(throws: AcquisitionError.noSuchAccount("ben", known: known.accounts)) {
            try known.decision(named: "ben", hint: nil)
        }
        var request = TokenRequest("https://host", isConfigured: true, clientID: "c", scopes: [])
        request.userHint = "ben"
        request.userHintIsAccount = true
        #expect(request.expectedAccount == "ben" && request.admits(nameless) && !request.admits(ann))
        request.account = "ben"
        #expect(!request.admits(nameless))
        // If a user name may be anything, it doesn't say who signs in.
        request.account = nil
        request.userHintIsAccount = false
        #expect(request.expectedAccount == nil && request.admits(ann))
    }

    @Test func `a name with its host means the account there`() throws {
        let ann = Self.account("a.host", "ann")
        let known = AccountSelection.of([ann, bob], at: Self.place)
        #expect(known.account(named: "Ann@\(Self.host)") == [ann])
        #expect(known.account(named: "ann@host.example").isEmpty)
    }

    @Test(arguments: ["", "   ", "alice", "contoso.example"])
    func `what is no name finds nobody`(_ name: String) {
        let nameless = Self.account("n.\(Self.tenant)", "")
        #expect(AccountSelection.of([alice, nameless], at: Self.place).account(named: name).isEmpty)
    }

    // MARK: - Signing out

    private static func records(_ clients: [String: String]) -> StoredRecords {
        var records = StoredRecords()
        for (client, family) in clients {
            let id = family == "not family" ? nil : family.split(separator: " ").last.map(String.init)
            records.append(
                .appMetadata(AppMetadataRecord(clientID: client, environment: host, familyID: id ?? "")))
            records.append(
                .refreshToken(
                    RefreshTokenRecord(
                        homeAccountID: "a.b", environment: host, clientID: client, secret: Secret("r"), familyID: id)))
            records.append(
                .accessToken(
                    AccessTokenRecord(
                        homeAccountID: "a.b", environment: host, clientID: client, realm: "b", target: "s",
                        secret: Secret("t"), cachedAt: 0, expiresOn: 1)))
            records.append(
                .idToken(
                    IDTokenRecord(
                        homeAccountID: "a.b", environment: host, clientID: client, realm: "b", secret: Secret("i"))))
        }
        records.append(.account(account("a.b", "u@x")))
        return records
    }

    /// The refresh tokens and the metadata are as MSAL for Python leaves them.
    ///
    /// Not followed: it removes every client's access and ID tokens and the account as well, which its own source calls
    /// a short cut. Here a client that is not signing out keeps those, as with MSAL for Objective-C, and so the account.
    @Test(arguments: Vectors.followed.filter { $0.id == "account/python-remove-account-scope" })
    func `MSAL's scope of a sign-out`(example: VectorCase) throws {
        let clients = (example.input["clients"]?.members ?? [:]).compactMapValues(\.text)
        let leaver = try #require(example.text("remove_as"))
        let records = Self.records(clients)
        let plan = SignOutPlan(records, clientIDs: [leaver])
        func left(_ kind: CredentialKind) -> [String] {
            records.all.filter { $0.kind == kind && !plan.removed.contains($0) }.compactMap(\.clientID).sorted()
        }
        let expected = example.expect["refresh_tokens_left"]?.elements.compactMap(\.text)
        #expect(left(.refreshToken) == expected)
        #expect(left(.appMetadata).count == example.expect["app_metadata_left"]?.wholeNumber)
        #expect(left(.accessToken) == clients.keys.filter { $0 != leaver }.sorted())
        #expect(left(.idToken) == clients.keys.filter { $0 != leaver }.sorted())
        #expect(plan.remaining == clients.keys.filter { $0 != leaver }.sorted())
    }

    @Test func `the account goes with the last token of it, and at once where it is forgotten`() {
        let records = Self.records(["one": "not family", "two": "not family"])
        let first = SignOutPlan(records, clientIDs: ["one"])
        #expect(!first.removed.contains { $0.kind == .account } && first.remaining == ["two"])
        for all in [SignOutPlan(records, clientIDs: ["one", "two"]), SignOutPlan(records, clientIDs: nil)] {
            #expect(all.remaining.isEmpty)
            #expect(Set(all.removed.map(\.kind)) == [.account, .accessToken, .refreshToken, .idToken])
            #expect(all.removed.count == 7)
        }
        #expect(SignOutPlan(records, clientIDs: ["three"]).removed.isEmpty)
    }
}
