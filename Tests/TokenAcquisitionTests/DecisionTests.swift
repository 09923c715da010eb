import Keyring
import Model
import Secrets
import Testing

@testable import Rules
@testable import TokenAcquisition

/// The next step, given an account's stored tokens.
@Suite struct DecisionTests {
    struct Case: Sendable, CustomTestStringConvertible {
        /// Seconds until the access token expires; nil if there is none.
        var lives: Int?
        /// Seconds until the authority wants it renewed; nil if it didn't say.
        var renewsIn: Int?
        var refreshToken = false
        var prompt: String?
        var claims: String?
        /// `answer`, `renew` or `ask`.
        let step: String
        let testDescription: String
    }

    private static let cases = [
        Case(lives: 3600, refreshToken: true, step: "answer", testDescription: "a fresh token is handed out"),
        Case(lives: 200, refreshToken: true, step: "renew", testDescription: "one that is about to end is renewed"),
        Case(lives: 200, step: "ask", testDescription: "or asked for, if it can't be"),
        Case(
            lives: 3600, renewsIn: -1, refreshToken: true, step: "renew",
            testDescription: "one that is due is renewed early"),
        Case(lives: 3600, renewsIn: -1, step: "answer", testDescription: "or handed out, if it can't be"),
        Case(refreshToken: true, step: "renew", testDescription: "a refresh token alone is redeemed"),
        Case(step: "ask", testDescription: "without either the user is asked"),
        Case(
            lives: 3600, refreshToken: true, prompt: "login", step: "ask",
            testDescription: "a prompt is the user's to answer"),
        Case(
            lives: 3600, refreshToken: true, prompt: "none", step: "answer", testDescription: "none is no prompt"),
        Case(
            lives: 3600, refreshToken: true, claims: "{}", step: "renew", testDescription: "claims are renewed for"),
    ]

    @Test(arguments: cases)
    func `what is stored decides`(_ given: Case) throws {
        var decision = Decision(step: .askUser(nil))
        let meant = try #require(
            try AccountSelection.of([Self.account], at: Self.place).decision(named: nil, hint: nil))
        decision.decide(for: meant, Self.stored(given))
        let step =
            switch decision.step {
            case .answer(let token): token.accessToken == Secret("at") ? "answer" : "another"
            case .exchange: "exchange"
            case .renew(let tokens, _): tokens.map(\.secret) == [Secret("rt")] ? "renew" : "another"
            case .authenticate: "authenticate"
            case .askUser: "ask"
            case .refuse: "refuse"
            }
        #expect(step == given.step)
        #expect(decision.canRenew == given.refreshToken)
        #expect(decision.account == Self.account)
        #expect(decision.reason == .onlyOne)
    }

    @Test(arguments: [
        ("cid", nil, nil), ("other", nil, RenewalDoubt.othersSignIn), ("other", "1", nil),
    ])
    func `another client's refresh token is doubtful until the authority has called this one a member`(
        owner: String, family: String?, doubt: RenewalDoubt?
    ) throws {
        var records = StoredRecords()
        var token = RefreshTokenRecord(
            homeAccountID: "uid.utid", environment: Self.host, clientID: owner, secret: Secret("rt"))
        token.familyID = "1"
        records.refreshTokens = [token]
        records.appMetadata =
            family.map {
                [AppMetadataRecord(clientID: "cid", environment: Self.host, familyID: $0)]
            } ?? []
        var decision = Decision(step: .askUser(nil))
        let meant = try #require(
            try AccountSelection.of([Self.account], at: Self.place).decision(named: nil, hint: nil))
        decision.decide(for: meant, Self.stored(records))
        #expect(decision.doubt == doubt)
        decision.isKnown = false
        #expect(decision.doubt == .newToRealm)
    }

    private static let now = 1_800_000_000
    private static let host = "login.example"
    private static let account = AccountRecord(
        homeAccountID: "uid.utid", environment: host, realm: "contoso", username: "u@x.example")
    private static let place = AuthorityKey(environment: host, aliases: [host], realm: "contoso", policy: nil)

    private static func stored(_ given: Case) -> StoredAccount {
        var records = StoredRecords()
        if let lives = given.lives {
            var token = AccessTokenRecord(
                homeAccountID: "uid.utid", environment: host, clientID: "cid", realm: "contoso", target: "s",
                secret: Secret("at"), cachedAt: now, expiresOn: now + lives)
            token.refreshOn = given.renewsIn.map { now + $0 }
            records.accessTokens = [token]
        }
        if given.refreshToken {
            records.refreshTokens = [
                RefreshTokenRecord(
                    homeAccountID: "uid.utid", environment: host, clientID: "cid", secret: Secret("rt"))
            ]
        }
        return stored(records, prompt: given.prompt, claims: given.claims)
    }

    private static func stored(
        _ records: StoredRecords, prompt: String? = nil, claims: String? = nil
    ) -> StoredAccount {
        var request = TokenRequest("https://\(host)/contoso", isConfigured: true, clientID: "cid", scopes: ["s"])
        request.prompt = prompt
        request.claims = claims
        return StoredAccount(
            account: account,
            selection: SilentSelection(records: records, place: place, account: account, request: request, now: now),
            records: records)
    }
}
