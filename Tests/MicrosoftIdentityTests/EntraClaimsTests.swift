import Addresses
import Foundation
import JSON
import PluginWire
import Secrets
import Testing

@testable import MicrosoftIdentity
@testable import OAuth

struct EntraClaimsTests {
    private static let tenant = "11111111-2222-3333-4444-555555555555"
    private static let now = Date(timeIntervalSince1970: 1_000_000)

    private static func token(_ changes: [String: JSONValue?]) -> Secret {
        var claims: [String: JSONValue] = [
            "iss": .string("https://login.microsoftonline.com/\(tenant)/v2.0"), "aud": .string("client"),
            "exp": .integer(1_000_600), "nbf": .integer(999_900), "nonce": .string("n"), "sub": .string("s"),
            "tid": .string(tenant), "preferred_username": .string("alice@contoso.example"),
        ]
        for (name, value) in changes { claims[name] = value }
        return Secret("e30.\(Base64URL.encode(JSONValue.object(claims).encoded())).sig")
    }

    private static func check(_ text: Secret) throws -> EntraClaims {
        let claims = try EntraClaims(text)
        let issuer = claims.expectedIssuer(
            "https://login.microsoftonline.com/{tenantid}/v2.0",
            aliases: ["login.microsoftonline.com", "sts.windows.net"])
        try claims.token.check(.init(issuer: issuer, audience: "client", nonce: "n"), sent: Self.now)
        return claims
    }

    @Test(arguments: [
        [:], ["iss": JSONValue.string("https://sts.windows.net/\(tenant)/v2.0/")],
        ["iss": .string("https://login.microsoftonline.com/\(tenant)/V2.0")],
    ])
    func `the issuer may be any host of the environment`(_ changes: [String: JSONValue?]) throws {
        let claims = try Self.check(Self.token(changes))
        #expect(claims.username == "alice@contoso.example")
        #expect(claims.tenantID == Self.tenant)
    }

    @Test(arguments: [
        ["iss": JSONValue.string("https://login.evil.example/\(tenant)/v2.0")],
        ["iss": .string("https://login.microsoftonline.com/other/v2.0")],
        ["iss": .string("http://login.microsoftonline.com/\(tenant)/v2.0")], ["iss": .string("")], ["tid": nil],
    ])
    func `a token of another issuer or tenant is refused`(_ changes: [String: JSONValue?]) throws {
        let error = #expect(throws: OAuthError.self) { try Self.check(Self.token(changes)) }
        #expect(error?.pluginError().code == .internal)
    }

    @Test(arguments: ["", "a.b.c", "e30.e30.x"])
    func `what is no token is an error`(_ text: String) {
        #expect(throws: OAuthError.self) { try EntraClaims(Secret(text)) }
    }
}
