import JSON
import Secrets
import Testing
import Vectors

@testable import Keyring

/// MSAL's own cache keys (Tests/Vectors).
@Suite struct CredentialKeyTests {
    static let cases = Vectors.followed("cache-key")

    @Test func `there are cases`() { #expect(Self.cases.count == 7) }

    @Test(arguments: cases.filter { $0.id.hasPrefix("cache-key/python-") && $0.expect["key"] != nil })
    func `unified keys and members are those of MSAL for Python`(_ row: VectorCase) throws {
        let record = try #require(row.unifiedRecord)
        #expect(record.unifiedKey == row.expect["key"]?.text)
        var members = record.members
        members["secret"] = nil
        #expect(members == (row.expect["entry_without_secret"] ?? row.expect["entry"])?.members)
    }

    @Test func `unknown sections and entries survive a round trip`() throws {
        let row = try #require(Self.cases.first { $0.id == "cache-key/unknown-sections-survive-a-round-trip" })
        let document = try #require(row.input["cache"])
        var cache = try #require(UnifiedCache(json: document.encoded()))
        #expect(JSONValue(bytes: cache.json()) == document)
        cache.records.append(Sample.accessToken())
        let members = try #require(JSONValue(bytes: cache.json())?.members)
        #expect(members["customized"] == .string("whatever"))
        #expect(members["AccessToken"]?.members?["an-entry"] == .object(["foo": .string("bar")]))
        #expect(members["AccessToken"]?.members?.count == 2)
    }

    @Test func `an entry under a wrong key is found by its fields and filed under the right one`() throws {
        let row = try #require(
            Self.cases.first { $0.id == "cache-key/python-old-entry-under-wrong-key-is-found-by-field" })
        var fields = try #require(row.input["fields"]?.members)
        fields["secret"] = .string("rt")
        let document = JSONValue.object(["RefreshToken": .object([row.text("entry_key") ?? "": .object(fields)])])
        let cache = try #require(UnifiedCache(json: document.encoded()))
        #expect(cache.records.count == 1)
        let section = try #require(JSONValue(bytes: cache.json())?.members?["RefreshToken"]?.members)
        #expect(Array(section.keys) == [row.expect["rewritten_key"]?.text])
    }
}

extension VectorCase {
    /// The record that the answer of a token endpoint makes.
    fileprivate var unifiedRecord: CredentialRecord? {
        let entry = (expect["entry_without_secret"] ?? expect["entry"])?.members ?? [:]
        let parts = (text("token_endpoint") ?? "").split(separator: "/").map(String.init)
        let client = text("client_id") ?? ""
        switch entry["credential_type"]?.text {
        case "AccessToken":
            let now = input["now"]?.wholeNumber ?? 0
            guard case .array(let scopes)? = input["scope"] else { return nil }
            var token = AccessTokenRecord(
                homeAccountID: "uid.utid", environment: parts[1], clientID: client, realm: parts[2],
                target: scopes.compactMap(\.text).sorted().joined(separator: " "), secret: Secret("t"), cachedAt: now,
                expiresOn: now + (input["expires_in"]?.wholeNumber ?? 0))
            token.extendedExpiresOn = token.expiresOn
            return .accessToken(token)
        case "IdToken":
            return .idToken(
                IDTokenRecord(
                    homeAccountID: "uid.utid", environment: parts[1], clientID: client, realm: parts[2],
                    secret: Secret("t")))
        default:
            guard entry["authority_type"] != nil else {
                return .appMetadata(AppMetadataRecord(clientID: client, environment: parts[1], familyID: nil))
            }
            let claims =
                input["id_token"]?.members ?? ["sub": "object1234", "upn": "John Doe"].mapValues(JSONValue.string)
            var account = AccountRecord(
                homeAccountID: input["client_info"]?.members == nil ? claims["sub"]?.text ?? "" : "uid.utid",
                environment: parts[1], realm: parts[2], username: claims["upn"]?.text ?? "")
            account.localAccountID = claims["sub"]?.text
            account.authorityType = parts[2] == "adfs" ? "ADFS" : "MSSTS"
            return .account(account)
        }
    }
}
