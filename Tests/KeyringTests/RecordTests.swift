import JSON
import Secrets
import Testing

@testable import Keyring

@Suite struct RecordTests {
    @Test func `what tokens are exchanged for is kept apart by all that decides it`() throws {
        guard case .accessToken(let token) = Sample.accessToken() else { return }
        var result = ExchangedRecord(
            homeAccountID: token.homeAccountID, environment: token.environment, clientID: token.clientID,
            realm: token.realm, target: token.target, exchange: "acr", audience: "contoso.azurecr.io", cachedAt: 1000)
        result.username = Secret("u")
        result.secret = Secret("s p")
        result.fields = ["A": Secret("x=y"), "EMPTY": Secret("")]
        (result.expiresOn, result.refreshOn, result.requestedRealm) = (4000, 3000, "contoso.com")
        let record = CredentialRecord.exchanged(result)
        #expect(CredentialRecord(json: record.json) == record && record.isPlain)
        #expect(!String(decoding: UnifiedCache([record]).json(), as: UTF8.self).contains("s p"))
        let others: [(inout ExchangedRecord) -> Void] = [
            { $0.exchange = "x" }, { $0.audience = "other.azurecr.io" }, { $0.path = "a" }, { $0.clientID = "x" },
            { $0.homeAccountID = "x.y" }, { $0.realm = "x" }, { $0.target = "Mail.Read" }, { $0.environment = "x" },
        ]
        for change in others {
            var other = result
            change(&other)
            #expect(!record.isSameItem(as: .exchanged(other)), "\(other)")
        }
        result.secret = Secret("other")
        #expect(record.isSameItem(as: .exchanged(result)))
        result.audience = "a b"
        #expect(!CredentialRecord.exchanged(result).isPlain)
        let empty = #"{"credential_type":"Exchanged","exchange":"a","audience":"b"}"#
        #expect(CredentialRecord(json: empty.utf8) == nil)
    }

    @Test(arguments: Sample.all) func `a record survives a round trip`(_ record: CredentialRecord) {
        #expect(CredentialRecord(kind: record.kind, json: record.json) == record)
    }

    @Test(arguments: Sample.all) func `members nobody knows survive`(_ record: CredentialRecord) throws {
        var members = record.members
        members["future"] = .object(["deep": .array([.integer(1), .number(1.5), .bool(true), .null])])
        let read = try #require(CredentialRecord(kind: record.kind, members: members))
        #expect(JSONValue(bytes: read.json) == .object(members))
    }

    @Test func `numbers may be strings and strings numbers`() throws {
        let json = #"""
            {"secret":"s","home_account_id":"h","environment":"e","client_id":7,"realm":"r","target":"t",
             "cached_at":1000,"expires_on":"4600","extended_expires_on":"4600.7","refresh_on":2800.0}
            """#
        guard case .accessToken(let token)? = CredentialRecord(kind: .accessToken, json: json.utf8) else {
            throw ProbeFailure(output: json)
        }
        #expect(token.clientID == "7")
        #expect((token.cachedAt, token.expiresOn) == (1000, 4600))
        #expect((token.extendedExpiresOn, token.refreshOn) == (4600, 2800))
        #expect(token.tokenType == "Bearer")
        #expect(token.members["refresh_on"] == .string("2800"))
    }

    @Test func `a time that nobody could reckon with is none, and survives`() throws {
        let (least, most) = (Int64.min, String(Int.max))
        let json = #"{"secret":"s","home_account_id":"h","last_modification_time":"\#(least)"}"#
        let read = try #require(CredentialRecord(kind: .refreshToken, json: json.utf8))
        guard case .refreshToken(let token) = read else { throw ProbeFailure(output: json) }
        #expect(token.lastModificationTime == nil)
        #expect(read.members["last_modification_time"] == .string(String(least)))
        for time in [String(least), most] {
            let access = #"{"secret":"s","expires_on":"\#(time)"}"#
            #expect(CredentialRecord(kind: .accessToken, json: access.utf8) == nil)
        }
    }

    @Test(arguments: ["", "[]", "{}", #"{"secret":""}"#, #"{"secret":"s"}"#, #"{"secret":"s","expires_on":"never"}"#])
    func `what is no access token is refused`(_ json: String) {
        #expect(CredentialRecord(kind: .accessToken, json: json.utf8) == nil)
    }

    @Test func `absurd nesting is refused`() {
        let json = String(repeating: "[", count: 100_000)
        #expect(JSONValue(bytes: json.utf8) == nil)
    }

    @Test func `no description of a record tells a secret`() {
        for record in Sample.all {
            let shown = "\(record) \(String(reflecting: record))"
            #expect(!shown.contains("a.b.c"))
        }
    }

    @Test func `attributes hold no user name, token or time, and are never left out`() {
        for record in Sample.all {
            let attributes = ItemAttributes(record, group: "g").dictionary
            #expect(attributes.count == 8)
            for value in attributes.values {
                #expect(!["alice@contoso.example", "at", "rt", "a.b.c", "4600"].contains(value))
            }
        }
    }

    @Test func `the order of scopes makes no other item, but their case does, as at some issuers`() {
        func target(_ scopes: String) -> String? {
            ItemAttributes(Sample.accessToken(scopes), group: "g").dictionary["target"]
        }
        #expect(target("User.Read Mail.Read") == target("Mail.Read User.Read"))
        #expect(target("read") != target("Read"))
    }

    @Test(arguments: [
        ("App", "app", false), ("FA311100-0000-4000-8000-0000000000A1", "fa311100-0000-4000-8000-0000000000a1", true),
    ])
    func `only a client ID that is a UUID has no case`(_ one: String, _ other: String, _ isSame: Bool) {
        let records = [one, other].map { Sample.refreshToken(client: $0) }
        #expect(records[0].isSameItem(as: records[1]) == isSame)
        #expect(RecordQuery(clientID: one).matches(records[1]) == isSame)
    }

    @Test func `a token without a known end is one that has ended to whoever doesn't know better`() throws {
        var token = AccessTokenRecord(
            homeAccountID: "u.t", environment: "login.example", clientID: "c", realm: "r", target: "s",
            secret: Secret("AT"), cachedAt: 1, expiresOn: nil)
        token.basicUsername = "oauth2"
        var members = CredentialRecord.accessToken(token).members
        #expect(members["expires_on"] == .string("0"))
        #expect(CredentialRecord(kind: .accessToken, members: members) == .accessToken(token))
        members["lanyard_endless"] = nil
        token.expiresOn = 0
        #expect(CredentialRecord(kind: .accessToken, members: members) == .accessToken(token))
        members["expires_on"] = nil
        #expect(CredentialRecord(kind: .accessToken, members: members) == nil)
    }

    @Test func `an application's token is no account's`() throws {
        let application = CredentialRecord.accessToken(
            AccessTokenRecord(
                homeAccountID: nil, environment: "login.example", clientID: "c", realm: "r", target: "s",
                secret: Secret("AT"), cachedAt: 1, expiresOn: 2))
        #expect(application.unifiedKey == "-login.example-accesstoken-c-r-s")
        #expect(try #require(CredentialRecord(kind: .accessToken, json: application.json)) == application)
        #expect(RecordQuery(clientID: "c").matches(application))
        #expect(!RecordQuery(homeAccountID: "u.t").matches(application))
        let client = AppMetadataRecord(clientID: "c", environment: "login.example", familyID: nil)
        #expect(RecordQuery(homeAccountID: "u.t").matches(.appMetadata(client)))
    }

    @Test func `without an account a record is stored with an empty one, as MSAL does`() throws {
        let token = CredentialRecord.accessToken(
            AccessTokenRecord(
                homeAccountID: nil, environment: "login.example", clientID: "c", realm: "r", target: "s",
                secret: Secret("AT"), cachedAt: 1, expiresOn: 2))
        #expect(
            String(decoding: token.json, as: UTF8.self) == #"{"cached_at":"1","client_id":"c","#
                + #""credential_type":"AccessToken","environment":"login.example","expires_on":"2","home_account_id":"","#
                + #""realm":"r","secret":"AT","target":"s","token_type":"Bearer"}"#)
        var result = ExchangedRecord(
            homeAccountID: nil, environment: "login.example", clientID: "c", realm: "r", target: "s", exchange: "door",
            audience: "door.example", cachedAt: 1)
        result.secret = Secret("key")
        result.expiresOn = 2
        let exchanged = CredentialRecord.exchanged(result)
        #expect(
            String(decoding: exchanged.json, as: UTF8.self) == #"{"audience":"door.example","cached_at":"1","#
                + #""client_id":"c","credential_type":"Exchanged","environment":"login.example","exchange":"door","#
                + #""expires_on":"2","home_account_id":"","realm":"r","secret":"key","target":"s"}"#)
        let key = ["group": "g", "home-account": "", "environment": "login.example", "client": "c", "realm": "r"]
        #expect(
            ItemAttributes(token, group: "g").dictionary
                == key.merging(["kind": "accesstoken", "target": "s", "family": ""]) { $1 })
        #expect(
            ItemAttributes(exchanged, group: "g").dictionary
                == key.merging(["kind": "exchanged", "target": "s door:door.example", "family": ""]) { $1 })
        for record in [token, exchanged] {
            let read = CredentialRecord(kind: record.kind, json: record.json)
            #expect(read == record && read?.homeAccountID == nil)
        }
    }

    @Test func `a family's refresh token is one item, whichever client got it`() {
        let one = ItemAttributes(Sample.refreshToken(family: "1", client: "a"), group: "g").dictionary
        let other = ItemAttributes(Sample.refreshToken(family: "1", client: "b"), group: "g").dictionary
        #expect(one == other)
    }
}
