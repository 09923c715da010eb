import AnswerCache
import JSON
import Keyring
import Model
import PluginWire
import Secrets
import Testing

@testable import Rules
@testable import TokenAcquisition

/// The records of rejected tokens, and for how long they count.
@Suite struct RejectionTests {
    private static let now = 1_800_000_000
    private static let account = AccountRecord(
        homeAccountID: "uid.utid", environment: "login.example", realm: "utid", username: "u@x")
    private static let place = AuthorityKey(
        environment: "login.example", aliases: ["login.example"], realm: "utid", policy: nil)

    private static func request(_ path: String?, host: String? = "git.example") -> TokenRequest {
        var request = TokenRequest(
            "https://login.example/utid", isConfigured: true, clientID: "cid", scopes: ["api://git/.default"])
        request.host = host
        request.path = path
        return request
    }

    /// Returns an access token that was renewed this many seconds ago, and the refresh token that renewed it.
    private static func records(renewed age: Int, _ other: [String: JSONValue] = [:]) -> StoredRecords {
        var token = AccessTokenRecord(
            homeAccountID: "uid.utid", environment: "login.example", clientID: "cid", realm: "utid",
            target: "api://git/.default", secret: Secret("at"), cachedAt: now - age, expiresOn: now + 90_000)
        token.other[Rejection.renewedMember] = "1"
        var refreshToken = RefreshTokenRecord(
            homeAccountID: "uid.utid", environment: "login.example", clientID: "cid", secret: Secret("rt"))
        refreshToken.other = other
        var records = StoredRecords()
        records.append(.accessToken(token))
        records.append(.refreshToken(refreshToken))
        return records
    }

    /// The authority's result for the next request.
    private static var result: PluginResult {
        var result = PluginResult(
            accessToken: Secret("at2"), expiresIn: 90_000, scopes: ["api://git/.default"],
            environment: "login.example", realm: "utid",
            account: PluginAccount(homeAccountID: "uid.utid", username: "u@x"))
        result.refreshToken = Secret("rt2")
        return result
    }

    /// Returns the records after their token was rejected at a path.
    private static func refused(_ records: StoredRecords, at path: String?, claims: String? = nil) -> StoredRecords {
        var request = request(path)
        request.claims = claims
        let rejection = Rejection(of: records.accessTokens, for: request, now: now)
        var records = records
        records.refreshTokens = records.refreshTokens.map { rejection.noted(in: $0) ?? $0 }
        records.accessTokens.removeAll { rejection.dropped.contains($0) }
        return records
    }

    private static func look(_ records: StoredRecords, _ path: String?, after seconds: Int = 0) -> SilentSelection {
        SilentSelection(
            records: records, place: place, account: account, request: request(path), now: now + seconds)
    }

    @Test func `a token that wasn't just renewed is dropped`() {
        let records = Self.refused(Self.records(renewed: 60), at: "a")
        #expect(records.accessTokens.isEmpty)
        #expect(Self.look(records, "a").redeemable.count == 1)
    }

    @Test func `one that was stays for every other path, and is renewed again after a minute`() {
        let records = Self.refused(Self.records(renewed: 10), at: "a")
        #expect(Self.look(records, "a").freshToken == nil)
        #expect(Self.look(records, "a").redeemable.isEmpty)
        #expect(Self.look(records, "a").secondsToRenewal == 50)
        #expect(Self.look(records, "a").refusedToken == nil)
        for other in ["b", nil] { #expect(Self.look(records, other).freshToken != nil) }
        #expect(Self.look(records, "a", after: 49).redeemable.isEmpty)
        #expect(Self.look(records, "a", after: 50).redeemable.count == 1)
        #expect(Self.look(records, "a", after: 50).freshToken == nil)
        // Setting the clock back must not prolong it.
        #expect(Self.look(records, "a", after: -100).redeemable.count == 1)
        #expect(Self.look(records, "a", after: 86_400).freshToken != nil)
    }

    @Test func `a refusal without a path counts for the whole host`() {
        let records = Self.refused(Self.records(renewed: 10), at: nil)
        #expect(Self.look(records, "a").freshToken == nil)
        #expect(Self.look(records, nil).freshToken == nil)
        #expect(Self.look(records, nil).refusedToken != nil)
        #expect(Self.look(records, nil, after: 50).refusedToken == nil)
    }

    @Test func `claims are missed where they were asked for, until a token has them`() {
        let claims = #"{"access_token":{"x":null}}"#
        var records = Self.refused(Self.records(renewed: 10), at: "a", claims: claims)
        #expect(Self.look(records, "a").missedClaims == claims)
        #expect(Self.look(records, "a").freshToken == nil)
        #expect(Self.look(records, "a").redeemable.count == 1)
        #expect(Self.look(records, "b").missedClaims == nil)
        #expect(Self.look(records, "b").freshToken != nil)
        // After a renewal for another path, it still lacks the claims.
        records.accessTokens[0].secret = Secret("another")
        #expect(Self.look(records, "a").freshToken == nil)
        records.accessTokens[0].other[Rejection.renewedMember] = .string(Rejection.renewedWithClaims)
        #expect(Self.look(records, "a").freshToken != nil)
    }

    @Test func `what was got for a path settles what was refused there`() {
        var token = Self.refused(Self.records(renewed: 10), at: "a").refreshTokens[0]
        func settle(_ path: String, by secret: String = "new") {
            token.settleRefusals(of: Self.request(path), by: Secret(secret), now: Self.now)
        }
        func standing(after seconds: Int = 0) -> [RejectedToken] {
            token.refusals(of: Self.request("a"), now: Self.now + seconds)
        }
        settle("b")
        #expect(standing().map(\.renewed) == [Self.now - 10])
        settle("a")
        // The rejected token remains stored until the new one is.
        let left = RejectedToken(token: Secret("at").reveal().shortDigest, on: Self.now)
        #expect(standing() == [left])
        #expect(standing(after: RejectedToken.lifetime).isEmpty)
        settle("a", by: "at")
        #expect(token.other.isEmpty)
    }

    @Test func `a token that was refused stays so until another is stored, whatever is renewed or signed in for`() {
        let refused = Self.refused(Self.records(renewed: 10), at: "a")
        for redeemed in [refused.refreshTokens[0], nil] {
            var made = RecordsOfResult(
                result: Self.result, request: Self.request("a"), place: Self.place, redeemed: redeemed, now: Self.now)
            made.stored.refreshTokens = refused.refreshTokens
            var records = refused
            // The refresh token is saved first.
            records.refreshTokens = [made.refreshToken].compactMap(\.self)
            #expect(records.refreshTokens.map(\.secret) == [Secret("rt2")])
            #expect(Self.look(records, "a").freshToken == nil)
            #expect(Self.look(records, "a").redeemable.count == 1)
            records.accessTokens = [made.accessToken]
            #expect(Self.look(records, "a").freshToken?.secret == Secret("at2"))
        }
    }

    @Test func `every token that was refused at a place stays so, in whatever order the reports come`() {
        let refusals = (0..<3).map {
            RejectedToken(
                token: Secret("at\($0)").reveal().shortDigest, on: Self.now + $0, renewed: Self.now + $0 - 5)
        }
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 2]] {
            var records = Self.records(renewed: 10)
            for index in order {
                records.refreshTokens[0].note(refusals[index], for: Self.request("a"))
            }
            for index in order {
                records.accessTokens[0].secret = Secret("at\(index)")
                #expect(Self.look(records, "a", after: 2).freshToken == nil, "\(order), \(index)")
                #expect(Self.look(records, "b", after: 2).freshToken != nil)
            }
            let standing = records.refreshTokens[0].refusals(of: Self.request("a"), now: Self.now + 2)
            // The last refusal decides when a renewal may help, however late older ones are reported.
            #expect(standing.map(\.renewed) == [Self.now - 3], "\(order)")
            // The authority may issue one of them again; the others stay refused.
            records.refreshTokens[0].settleRefusals(of: Self.request("a"), by: Secret("at2"), now: Self.now + 2)
            for index in Set(order) {
                records.accessTokens[0].secret = Secret("at\(index)")
                #expect((Self.look(records, "a", after: 2).freshToken != nil) == (index == 2), "\(order), \(index)")
            }
        }
    }

    @Test func `the tokens refused at a place are bounded`() {
        var token = Self.records(renewed: 10).refreshTokens[0]
        for number in 0..<100 {
            token.note(RejectedToken(token: "\(number)", on: Self.now + number), for: Self.request("a"))
        }
        let standing = token.refusals(of: Self.request("a"), now: Self.now + 100)
        #expect(standing.map(\.tokens) == [(92...99).reversed().map(String.init)])
    }

    @Test func `what is settled at a path hides no refusal of the host`() {
        var records = Self.refused(Self.records(renewed: 10), at: "a")
        records.refreshTokens[0].settleRefusals(of: Self.request("a"), by: Secret("at2"), now: Self.now)
        records.accessTokens[0].secret = Secret("at2")
        #expect(Self.look(records, "a").freshToken != nil)
        let rejection = Rejection(of: records.accessTokens, for: Self.request(nil), now: Self.now)
        records.refreshTokens = records.refreshTokens.map { rejection.noted(in: $0) ?? $0 }
        #expect(Self.look(records, "a").freshToken == nil)
        #expect(Self.look(records, "a").redeemable.isEmpty)
    }

    @Test func `places are bounded, and no path is in the clear`() throws {
        var token = Self.records(renewed: 10).refreshTokens[0]
        for number in 0..<100 {
            let refusal = RejectedToken(token: "t", on: Self.now + number)
            token.note(refusal, for: Self.request("private/\(number)"))
        }
        let text = String(decoding: CredentialRecord.refreshToken(token).json, as: UTF8.self)
        #expect(!text.contains("private") && !text.contains("git.example"))
        #expect(token.other["lanyard_refusals"]?.members?["cid"]?.members?.count == RefreshTokenRecord.mostRefusals)
        let later = Self.now + 100
        #expect(token.refusals(of: Self.request("private/99"), now: later).count == 1)
        #expect(token.refusals(of: Self.request("private/0"), now: later).isEmpty)
    }

    @Test func `times that nobody could reckon with do not count`() {
        for refusal in [RejectedToken(token: "t", on: .min), RejectedToken(token: "t", on: Self.now, renewed: .min)] {
            var token = Self.records(renewed: 600).refreshTokens[0]
            token.note(refusal, for: Self.request("a"))
            let standing = token.refusals(of: Self.request("a"), now: Self.now)
            #expect(standing.allSatisfy { $0.remaining(at: Self.now) == nil })
        }
    }
}
