import Foundation
import TestSupport
import Testing

/// One account in several tenants, and accounts of several kinds.
@Suite struct TenantTests {
    private static let alice = "alice@contoso.example"
    private static let contoso = "c0a70500-0000-4000-8000-00000c0a7050"
    private static let fabrikam = "fab81ca0-0000-4000-8000-0000fab81ca0"
    private static let personal = "9188040d-6c67-4c5b-b112-36a304b66dad"

    @Test func `one sign-in serves every tenant that the account is a guest of`() async throws {
        try await World.with { world in
            let home = try await world.get("contoso/hello.git", world.browser(as: Self.alice))
            #expect(home.status == 0, "\(home)")
            try await world.sandbox.clearLog()

            let guest = try await world.get("fabrikam/hello.git")
            #expect(guest.status == 0 && guest.value("username") == Self.alice, "\(guest)")
            #expect(guest.tenant == Self.fabrikam)
            let requests = try await world.sandbox.authorityRequests()
            #expect(requests.renewals == ["/\(Self.fabrikam)/oauth2/v2.0/token"])
            #expect(requests.signIns.isEmpty)
            #expect(try await world.get("contoso/hello.git").tenant == Self.contoso)

            let listed = try await world.lanyard(["status", "--accounts", "--json"]).output
            #expect(listed.components(separatedBy: "homeAccountId").count == 2, "one account: \(listed)")
            let cloned = try await world.git(["clone", "\(world.sandbox.resource)/fabrikam/hello.git"])
            #expect(cloned.status == 0, "\(cloned)")
        }
    }

    @Test func `a tenant that does not know the account says so, and another may be chosen`() async throws {
        try await World.with { world in
            _ = try await world.get("contoso/hello.git", world.browser(as: Self.alice))
            let refused = try await world.get("northwind/hello.git")
            #expect(refused.status == 2 && refused.hasNoCredential, "\(refused)")
            #expect(refused.errors.contains("AADSTS50020"), "\(refused)")
            #expect(refused.errors.contains("(correlation ID "), "\(refused)")
            let advice = "hint: choose an account of this tenant, or ask to be invited"
            #expect(refused.errors.contains(advice), "\(refused)")

            try await world.sandbox.clearLog()
            let frank = try await world.get("northwind/hello.git", world.browser(as: "frank@northwind.example"))
            #expect(frank.errors.hasPrefix("lanyard: \(Self.alice) can't sign in here: "), "\(frank)")
            #expect(frank.errors.contains("; choose an account of this tenant, or ask to be invited"), "\(frank)")
            #expect(frank.status == 0 && frank.value("username") == "frank@northwind.example", "\(frank)")
            let page = try await world.sandbox.authorityRequests().signIns.first
            #expect(page?["prompt"] == "select_account")
            #expect(page?["login_hint"] == nil, "not who is unknown there")
        }
    }

    @Test func `a tenant that wants a second proof of its guests gets it from the user`() async throws {
        try await World.with { world in
            _ = try await world.get("contoso/hello.git", world.browser(as: Self.alice))
            let refused = try await world.get("tailspin/hello.git")
            #expect(refused.status == 2, "\(refused)")
            #expect(refused.errors.hasPrefix("lanyard: error: interaction required (further proof): "), "\(refused)")
            #expect(refused.errors.contains("AADSTS50076"), "\(refused)")
            #expect(refused.errors.contains("hint: sign in again and pass multi-factor authentication"), "\(refused)")
            let proved = try await world.get("tailspin/hello.git", world.browser(as: Self.alice))
            #expect(proved.status == 0, "\(proved)")
            #expect(try await world.get("contoso/hello.git").status == 0)
        }
    }

    struct Realm: CustomTestStringConvertible, Sendable {
        let name: String
        let user: String
        let redeemedAt: String
        var testDescription: String { "\(user) at \(name)" }
    }

    static let realms = [
        Realm(name: "common", user: alice, redeemedAt: contoso),
        Realm(name: "organizations", user: alice, redeemedAt: contoso),
        Realm(name: "common", user: "dave@outlook.example", redeemedAt: personal),
        Realm(name: "consumers", user: "dave@outlook.example", redeemedAt: personal),
    ]

    @Test(arguments: realms)
    func `an account is renewed at its home`(realm: Realm) async throws {
        try await World.with { world in
            try await world.sandbox.set(#"{"access_token_lifetime": 200}"#)
            let first = try await world.get(at: realm.name, world.browser(as: realm.user))
            #expect(first.status == 0 && first.value("username") == realm.user, "\(first)")
            let second = try await world.get(at: realm.name)
            #expect(second.status == 0 && second.value("password") != first.value("password"), "\(second)")
            #expect(
                try await world.sandbox.authorityRequests().renewals == ["/\(realm.redeemedAt)/oauth2/v2.0/token"])
            #expect(second.tenant == realm.redeemedAt)
        }
    }

    @Test func `a personal account serves common and consumers, and is nobody's at organizations`() async throws {
        try await World.with { world in
            let user = "dave@outlook.example"
            _ = try await world.get(at: "common", world.browser(as: user))
            #expect(try await world.get(at: "consumers").value("username") == user)
            let none = try await world.get(at: "organizations")
            #expect(none.status == 2, "\(none)")
            let work = try await world.get(at: "organizations", world.browser(as: Self.alice))
            #expect(work.value("username") == Self.alice, "\(work)")
            #expect(try await world.get(at: "consumers").value("username") == user)
        }
    }
}
