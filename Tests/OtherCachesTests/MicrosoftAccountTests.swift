import Keyring
import OtherCaches
import Testing

/// What the identifiers in another program's cache reveal about an account.
@Suite struct MicrosoftAccountTests {
    private static let tenant = "11111111-2222-3333-4444-555555555555"
    private static let personal = "9188040d-6c67-4c5b-b112-36a304b66dad"
    private static let object = "e8140000-0000-4000-8000-00000000b2c0"

    private func account(
        _ id: String, _ type: String = "MSSTS", realm: String? = nil, _ username: String = "", more: String = ""
    ) throws -> AccountRecord {
        let realm = realm ?? id.split(separator: ".").last.map(String.init) ?? ""
        let json = """
            {"Account": {"k": {"home_account_id": "\(id)", "environment": "h.example", "realm": "\(realm)",
            "username": "\(username)", "authority_type": "\(type)"\(more)}}}
            """
        guard case .account(let account)? = OtherCache(unified: Array(json.utf8))?.records.first else {
            throw NoAccount()
        }
        return account
    }

    private struct NoAccount: Error {}

    @Test(
        arguments: [
            ("a.\(tenant)", "MSSTS", "work or school", nil), ("a.\(personal.uppercased())", "MSSTS", "personal", nil),
            ("\(object)-B2C_1A_Sign-In.\(tenant)", "MSSTS", "B2C", "b2c_1a_sign-in"),
            ("\(object).\(tenant)", "MSSTS", "work or school", nil),
            ("\(object)-.\(tenant)", "MSSTS", "work or school", nil),
            ("not-an-object-id-that-is-a-UUID-b2c_1_x.\(tenant)", "MSSTS", "work or school", nil),
            ("sub", "ADFS", nil, nil), ("sub.x", "Other", nil, nil),
        ] as [(String, String, String?, String?)])
    func `the kind of an account is in its identifiers`(
        _ id: String, _ type: String, _ kind: String?, _ policy: String?
    ) throws {
        let account = try account(id, type)
        #expect(account.kind == kind && account.policy == policy)
    }

    @Test func `its home is too, by the domain of its name where it is at home`() throws {
        #expect(
            try account("a.\(Self.tenant)", "MSSTS", realm: nil, "alice@Contoso.example").homeRealms
                == [Self.tenant, "contoso.example"])
        #expect(
            try account("a.\(Self.tenant)", "MSSTS", realm: "other", "alice@contoso.example").homeRealms == [
                Self.tenant
            ])
        #expect(
            try account("a.\(Self.personal)", "MSSTS", realm: nil, "dave@contoso.example").homeRealms == [Self.personal]
        )
        #expect(try account("sub.github.com", "Other").homeRealms.isEmpty)
    }

    @Test func `and so is an authority to sign it out at`() throws {
        #expect(
            try account("a.\(Self.tenant)", "MSSTS", realm: "other").authority == "https://h.example/\(Self.tenant)")
        #expect(
            try account("\(Self.object)-b2c_1_x.\(Self.tenant)").authority
                == "https://h.example/tfp/\(Self.tenant)/b2c_1_x")
    }

    @Test func `what lanyard exported says it itself`() throws {
        let account = try account(
            "a.\(Self.tenant)", more: #", "home_realms": "h", "account_kind": "k", "authority": "https://a.example/x""#)
        #expect(account.homeRealms == ["h"] && account.kind == "k" && account.authority == "https://a.example/x")
    }
}
