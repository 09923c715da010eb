import Foundation
import JSON
import Keyring
import Model
import PluginHost
import Secrets
import Testing
import Vectors

@testable import Rules
@testable import TokenAcquisition

@Suite struct SilentSelectionTests {
    private static let now = 1_800_000_000

    private static let account = {
        var account = AccountRecord(
            homeAccountID: "uid.utid", environment: "login.microsoftonline.com", realm: "contoso", username: "u@x")
        account.homeRealms = ["utid"]
        return account
    }()
    private static let place = AuthorityKey(
        environment: "login.microsoftonline.com",
        aliases: ["login.microsoftonline.com", "login.windows.net", "login.microsoft.com", "sts.windows.net"],
        realm: "contoso", policy: nil)

    private static func request(_ scopes: [String], claims: String? = nil) -> TokenRequest {
        var request = TokenRequest(
            "https://login.microsoftonline.com/contoso", isConfigured: true, clientID: "cid", scopes: scopes)
        request.claims = claims
        return request
    }

    private static func token(_ scopes: [String], lives: Int = 3600) -> AccessTokenRecord {
        AccessTokenRecord(
            homeAccountID: "uid.utid", environment: "login.microsoftonline.com", clientID: "cid", realm: "contoso",
            target: scopes.joined(separator: " "), secret: Secret("t"), cachedAt: now, expiresOn: now + lives)
    }

    private static func selection(_ records: StoredRecords, _ request: TokenRequest) -> SilentSelection {
        SilentSelection(records: records, place: place, account: account, request: request, now: now)
    }

    @Test(arguments: [false, true])
    func `a scope has a case at every issuer but Entra`(_ isSeparate: Bool) {
        var place = Self.place
        place.isSeparate = isSeparate
        var records = StoredRecords()
        records.append(.accessToken(Self.token(["Read"])))
        func found(_ scope: String) -> Bool {
            SilentSelection(
                records: records, place: place, account: Self.account, request: Self.request([scope]), now: Self.now
            ).freshToken != nil
        }
        #expect(found("Read") && found("read") == !isSeparate)
    }

    @Test(arguments: [(301, true, true), (299, false, true), (61, false, true), (59, false, false)])
    func `a token whose renewal would end it serves until its last minute`(
        _ lives: Int, _ otherwise: Bool, _ late: Bool
    ) {
        var token = Self.token(["s"], lives: lives)
        token.refreshOn = Self.now - 1
        var records = StoredRecords()
        records.append(.accessToken(token))
        for (renewsLate, serves) in [(false, otherwise), (true, late)] {
            var selection = SilentSelection(
                records: records, place: Self.place, account: Self.account, request: Self.request(["s"]),
                now: Self.now)
            selection.renewsLate = renewsLate
            #expect((selection.freshToken != nil) == serves)
            #expect(selection.shouldRenew(token) == !renewsLate)
        }
    }

    @Test(arguments: [(3600, 2700), (86_400, 64_800), (2400, 1800), (1200, 675), (301, 1), (300, 180), (0, 0)])
    func `the last quarter begins before a token is no longer handed out`(_ life: Int, _ start: Int) {
        #expect(SilentSelection.lastQuarter(from: 1000, to: 1000 + life) == 1000 + start)
    }

    @Test(arguments: [(2699, false), (2701, true)], [nil, 100])
    func `a token that is due is handed out, but to whoever renews it`(
        _ quarter: (age: Int, isDue: Bool), refresh: Int?
    ) {
        var token = Self.token(["s"], lives: 3600 - quarter.age)
        token.cachedAt = Self.now - quarter.age
        token.refreshOn = refresh.map { Self.now + $0 - 200 }
        let isDue = quarter.isDue || refresh != nil
        var records = StoredRecords()
        records.append(.accessToken(token))
        func selection(_ timing: RenewalTiming, late: Bool = false) -> SilentSelection {
            var selection = SilentSelection(
                records: records, place: Self.place, account: Self.account, request: Self.request(["s"]),
                timing: timing, now: Self.now)
            selection.renewsLate = late
            return selection
        }
        #expect(selection(.byAnother).freshToken != nil && !selection(.byAnother).shouldRenew(token))
        #expect(selection(.byAnother).dueOn(token).map { $0 <= Self.now } == isDue)
        #expect((selection(.ahead).freshToken == nil) == isDue)
        #expect(selection(.whenDue).dueOn(token) == nil && selection(.whenDue).shouldRenew(token) == (refresh != nil))
        // A renewal that revokes the previous token waits until that has expired, in whichever process it would run.
        for timing in [RenewalTiming.byAnother, .ahead] {
            let late = selection(timing, late: true)
            #expect(late.freshToken != nil && late.dueOn(token) == nil)
        }
    }

    private static func exchanging(_ name: String = "acr", for host: String = "r.example", _ path: String = "")
        -> TokenRequest
    {
        var request = request(["s"])
        request.exchange = TokenExchange(name, for: host, path: path)
        return request
    }

    private static func exchanged(lives: Int? = 3600, refresh: Int? = nil) -> StoredRecords {
        let token = token(["s"])
        var result = ExchangedRecord(
            homeAccountID: token.homeAccountID, environment: token.environment, clientID: token.clientID,
            realm: token.realm, target: token.target, exchange: "acr", audience: "r.example", cachedAt: now)
        result.requestedRealm = token.requestedRealm
        result.secret = Secret("x")
        result.expiresOn = lives.map { now + $0 }
        result.refreshOn = refresh.map { now + $0 }
        var records = StoredRecords()
        records.append(.exchanged(result))
        return records
    }

    @Test(
        arguments: [
            (3600, nil, true), (301, nil, true), (299, nil, false), (nil, nil, true), (3600, 1, true),
            (3600, -1, false),
        ] as [(Int?, Int?, Bool)])
    func `what a token was exchanged for serves until five minutes before its end, or until it is to be renewed`(
        _ lives: Int?, _ refresh: Int?, _ serves: Bool
    ) {
        let selection = Self.selection(Self.exchanged(lives: lives, refresh: refresh), Self.exchanging())
        #expect((selection.freshExchanged != nil) == serves)
        #expect(selection.exchanged != nil && selection.freshToken == nil)
    }

    @Test func `what a token was exchanged for serves the same exchange, host, path, client, scopes and account only`()
    {
        func serves(_ request: TokenRequest, _ place: AuthorityKey = Self.place) -> Bool {
            SilentSelection(
                records: Self.exchanged(), place: place, account: Self.account, request: request, now: Self.now
            ).freshExchanged != nil
        }
        #expect(serves(Self.exchanging()) && serves(Self.exchanging(for: "R.example")))
        #expect(!serves(Self.exchanging("other")) && !serves(Self.exchanging(for: "other.example")))
        #expect(!serves(Self.exchanging(for: "r.example:8443")) && !serves(Self.exchanging(for: "r.example", "a")))
        #expect(!serves(Self.request(["s"])))
        var request = Self.exchanging()
        request.clientID = "other"
        #expect(!serves(request))
        request = Self.exchanging()
        request.token = .id
        #expect(!serves(request))
        request = Self.exchanging()
        request.scopes = ["s", "t"]
        #expect(!serves(request))
        request = Self.exchanging()
        request.resourceIndicators = ["https://a.example"]
        #expect(!serves(request))
        request = Self.exchanging()
        request.claims = "{}"
        #expect(!serves(request))
        var other = Self.place
        other.realm = "fabrikam"
        #expect(!serves(Self.exchanging(), other))
    }

    @Test func `a token for another resource doesn't serve, whatever its scopes`() {
        var token = Self.token(["s"])
        token.resourceIndicators = "https://a.example https://b.example"
        var records = StoredRecords()
        records.append(.accessToken(token))
        for (wanted, serves) in [
            (["https://b.example", "https://a.example"], true), (["https://a.example"], false), ([], false),
        ] {
            var request = Self.request(["s"])
            request.resourceIndicators = wanted
            #expect((Self.selection(records, request).freshToken != nil) == serves, "\(wanted)")
        }
    }

    /// The cases about whether a stored token can be used; the others are the plugin's and run there.
    static let scopeCases = Vectors.followed("scope-match").filter { $0.expect["cache_hit"] != nil }

    @Test func `there are cases`() {
        #expect(Self.scopeCases.count == 11)
        #expect(Vectors.followed("silent").count == 9)
    }

    @Test(arguments: scopeCases)
    func `scopes match as a subset, whatever their case`(example: VectorCase) throws {
        var records = StoredRecords()
        records.accessTokens = [Self.token(example.texts("cached"))]
        let found = Self.selection(records, Self.request(example.texts("requested"))).freshToken
        #expect(.bool(found != nil) == example.expect["cache_hit"])
    }

    @Test(arguments: Vectors.followed("scope-match").filter { $0.expect["granted_reported"] != nil })
    func `what was granted is told without OpenID Connect's scopes`(example: VectorCase) throws {
        let told = example.texts("granted").filter { !$0.isOpenIDScope }
        #expect(told == example.expectedTexts("granted_reported"))
    }

    @Test func `a token without a known end serves before all others and when the authority is down`() {
        var records = StoredRecords()
        var endless = Self.token(["s"])
        endless.expiresOn = nil
        endless.secret = Secret("endless")
        records.accessTokens = [Self.token(["s"]), endless]
        let selection = Self.selection(records, Self.request(["s"]))
        #expect(selection.freshToken == endless)
        #expect(selection.lastResort == endless)
        records.accessTokens[1].cachedAt = Self.now - 400_000_000
        #expect(Self.selection(records, Self.request(["s"])).freshToken?.secret == Secret("endless"))
    }

    @Test func `an answer with a token without a known end is trusted for a day`() {
        var endless = Self.token(["s"])
        endless.expiresOn = nil
        func freshUntil() -> Int { AcquiredToken(endless, account: nil, source: .cache).freshUntil(now: Self.now) }
        #expect(freshUntil() == Self.now + 86_400)
        endless.refreshOn = Self.now + 60
        #expect(freshUntil() == Self.now + 60)
    }

    @Test(arguments: Vectors.followed("silent"))
    func `a stored token serves, or the right refresh token is sent`(example: VectorCase) throws {
        guard case .array(let cache)? = example.input["cache"] else { throw CancellationError() }
        var records = StoredRecords()
        for entry in cache { records.append(try #require(Self.record(entry))) }
        let claims = example.input["claims_challenge"]?.text
        let selection = Self.selection(records, Self.request(example.texts("scopes"), claims: claims))
        let isCached = selection.freshToken.map { !selection.shouldRenew($0) } ?? false
        let networkCalls = try #require(example.expect["network_calls"]?.wholeNumber)
        if networkCalls == 0 {
            #expect(isCached || selection.refreshTokens.isEmpty)
        } else {
            #expect(!isCached)
            #expect(selection.refreshTokens.first?.secret.reveal() == example.expect["sent_rt"]?.text)
        }
        if example.expect["source"] == .string("cache") { #expect(selection.freshToken != nil) }
    }

    /// Returns a record of a vector's cache, whose times are relative to now.
    private static func record(_ entry: JSONValue) -> CredentialRecord? {
        guard var members = entry.members, let section = members["section"]?.text else { return nil }
        for name in ["expires_on", "cached_at", "refresh_on"] {
            guard let offset = members["\(name)_offset"]?.wholeNumber else { continue }
            members[name] = .string(String(now + offset))
        }
        let kinds: [String: CredentialKind] = [
            "AccessToken": .accessToken, "RefreshToken": .refreshToken, "AppMetadata": .appMetadata,
            "Account": .account, "IdToken": .idToken,
        ]
        guard let kind = kinds[section], let json = try? JSONEncoder().encode(JSONValue.object(members)) else {
            return nil
        }
        return CredentialRecord(kind: kind, json: json)
    }

    @Test(arguments: [("contoso", true), ("CONTOSO", true), ("fabrikam", false), ("utid", false)])
    func `a token is for the realm that was asked`(realm: String, serves: Bool) {
        let place = AuthorityKey(
            environment: "login.microsoftonline.com", aliases: ["login.microsoftonline.com"], realm: realm, policy: nil)
        #expect(place.owns(Self.token(["s"]), of: Self.account) == serves)
    }

    @Test func `where any realm will do, a token of the account's home serves`() {
        let place = AuthorityKey(
            environment: "login.microsoftonline.com", aliases: ["login.windows.net", "login.microsoftonline.com"],
            realm: "common", sharedRealm: SharedRealm(name: "common"), policy: nil)
        var token = Self.token(["s"])
        #expect(!place.owns(token, of: Self.account))
        token.realm = "utid"
        #expect(place.owns(token, of: Self.account))
        token.environment = "login.windows.net"
        #expect(place.owns(token, of: Self.account))
        token.environment = "login.evil.example"
        #expect(!place.owns(token, of: Self.account))
        // Without a known home tenant, the requested one decides.
        var homeless = Self.account
        homeless.homeRealms = []
        token.environment = "login.windows.net"
        #expect(!place.owns(token, of: homeless))
        token.requestedRealm = "common"
        #expect(place.owns(token, of: homeless))
    }

    @Test func `a token asked for by domain and kept by id is found by either`() {
        var token = Self.token(["s"])
        token.realm = "6babcaad-604b-40ac-a9d7-9fd97c0b779f"
        token.requestedRealm = "contoso"
        #expect(Self.place.owns(token, of: Self.account))
    }

    @Test(arguments: [(nil, true), ("none", true), ("login", false), ("select_account", false)] as [(String?, Bool)])
    func `a stored token answers no request to prompt`(prompt: String?, serves: Bool) {
        var records = StoredRecords()
        records.accessTokens = [Self.token(["s"])]
        var request = Self.request(["s"])
        request.prompt = prompt
        #expect((Self.selection(records, request).freshToken != nil) == serves)
    }

    @Test func `an outage is bridged by an unexpired token or one of extended lifetime`() {
        var records = StoredRecords()
        records.accessTokens = [Self.token(["s"], lives: 200)]
        #expect(Self.selection(records, Self.request(["s"])).freshToken == nil)
        #expect(Self.selection(records, Self.request(["s"])).lastResort != nil)
        records.accessTokens = [Self.token(["s"], lives: -10)]
        #expect(Self.selection(records, Self.request(["s"])).lastResort == nil)
        records.accessTokens[0].extendedExpiresOn = Self.now + 10
        #expect(Self.selection(records, Self.request(["s"])).lastResort != nil)
        #expect(Self.selection(records, Self.request(["s"], claims: "{}")).lastResort == nil)
    }
}

@Suite struct AccountSelectionTests {
    private static func account(_ home: String, _ username: String, realm: String = "contoso") -> AccountRecord {
        var account = AccountRecord(homeAccountID: home, environment: "h", realm: realm, username: username)
        account.homeRealms = [home.split(separator: ".").last.map(String.init) ?? ""]
        return account
    }

    private static func place(_ realm: String, policy: String? = nil) -> AuthorityKey {
        var shared = SharedRealm(name: realm)
        if realm == "consumers" { shared.homes = ["personal"] }
        if realm == "organizations" { shared.exceptHomes = ["personal"] }
        let isShared = ["common", "consumers", "organizations"].contains(realm)
        return AuthorityKey(
            environment: "h", aliases: ["h"], realm: realm, sharedRealm: isShared ? shared : nil, policy: policy)
    }

    private let alice = account("a.contoso", "alice@contoso.example")
    private let dave = account("d.personal", "dave@outlook.example")

    @Test func `a user name finds its account whatever its case, and an identifier too`() throws {
        let known = AccountSelection.of([alice, dave], at: Self.place("common"))
        #expect(try known.decision(named: "ALICE@Contoso.example", hint: nil)?.account.homeAccountID == "a.contoso")
        #expect(try known.decision(named: "A.Contoso", hint: nil)?.account.username == "alice@contoso.example")
        #expect(throws: AcquisitionError.noSuchAccount("zoe", known: [alice, dave])) {
            try known.decision(named: "zoe", hint: nil)?.account
        }
    }

    @Test func `several accounts and no word which is an error`() throws {
        let known = AccountSelection.of([dave, alice], at: Self.place("common"))
        #expect(throws: AcquisitionError.ambiguousAccount([alice, dave])) {
            try known.decision(named: nil, hint: nil)?.account
        }
        #expect(throws: AcquisitionError.ambiguousAccount([alice, dave])) {
            try known.decision(named: nil, hint: "contoso")?.account
        }
        #expect(try known.decision(named: nil, hint: "dave@outlook.example")?.account == dave)
        #expect(try known.decision(named: nil, hint: "new@contoso.example")?.account == nil)
        #expect(
            try AccountSelection.of([alice], at: Self.place("common")).decision(named: nil, hint: "contoso")?.account
                == alice)
    }

    @Test func `a shared realm takes only the accounts of its homes`() {
        #expect(AccountSelection.of([alice, dave], at: Self.place("consumers")).accounts == [dave])
        #expect(AccountSelection.of([alice, dave], at: Self.place("organizations")).accounts == [alice])
        var homeless = dave
        homeless.homeRealms = []
        #expect(AccountSelection.of([homeless], at: Self.place("consumers")).accounts.isEmpty)
        #expect(AccountSelection.of([homeless], at: Self.place("organizations")).accounts == [homeless])
    }

    @Test func `an account of one policy is none of another's, and none where there is no policy`() {
        var susi = Self.account("s.tenant", "")
        susi.policy = "b2c_1_susi"
        var edit = Self.account("e.tenant", "")
        edit.policy = "b2c_1_edit"
        #expect(AccountSelection.of([susi, edit], at: Self.place("tenant")).accounts.isEmpty)
        #expect(AccountSelection.of([susi, edit], at: Self.place("tenant", policy: "B2C_1_susi")).accounts == [susi])
    }

    @Test func `of several tenant profiles the authority's stands for the account`() {
        let guest = Self.account("a.contoso", "alice@contoso.example", realm: "fabrikam")
        #expect(AccountSelection.of([guest, alice], at: Self.place("fabrikam")).accounts == [guest])
        #expect(AccountSelection.of([guest, alice], at: Self.place("common")).accounts == [alice])
    }

    // account/python-username-filter-*: "U@X" finds "u@x", "nobody" finds none.
    @Test(arguments: Vectors.followed("account").filter { $0.input["query"] != nil })
    func `MSAL's user name filter`(example: VectorCase) throws {
        let stored = Self.account("a.b", try #require(example.input["cached_username"]?.text))
        let found = AccountSelection.of([stored], at: Self.place("common")).account(
            named: try #require(example.input["query"]?.text))
        #expect(found.count == example.expect["matches"]?.wholeNumber)
    }
}
