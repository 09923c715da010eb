import Addresses
import Foundation
import JSON
import Secrets
import Testing

@testable import OAuth

struct IDTokenTests {
    private static let issuer = "https://gitlab.example/groups"
    private static let now = Date(timeIntervalSince1970: 1_000_000)

    private static func token(_ changes: [String: JSONValue?]) -> Secret {
        var claims: [String: JSONValue] = [
            "iss": .string(issuer), "aud": .string("client"),
            "exp": .integer(1_000_600), "nbf": .integer(999_900), "nonce": .string("n"), "sub": .string("s"),
        ]
        for (name, value) in changes { claims[name] = value }
        return Secret("e30.\(Base64URL.encode(JSONValue.object(claims).encoded())).sig")
    }

    private static let expectation = IDToken.Expectation(issuer: issuer, audience: "client", nonce: "n")

    @Test(arguments: [
        [:], ["aud": JSONValue.array([.string("other"), .string("client")])], ["exp": .string("999800")],
        ["nbf": nil], ["nbf": .integer(1_000_200)],
    ])
    func `a right token passes`(_ changes: [String: JSONValue?]) throws {
        let token = try IDToken(Self.token(changes))
        try token.check(Self.expectation, sent: Self.now)
        #expect(token.subject == "s")
        #expect(token.claims["sub"] == "s")
    }

    @Test(arguments: [
        ["iss": JSONValue.string("\(issuer)/")], ["iss": .string("https://GITLAB.example/groups")],
        ["iss": .string("https://gitlab.example/group\u{73}\u{301}")], ["aud": .string("another")],
        ["exp": .integer(999_600)], ["nbf": .integer(1_000_400)],
        ["nonce": .string("m")], ["nonce": nil],
    ])
    func `a wrong token is refused`(_ changes: [String: JSONValue?]) throws {
        let token = try IDToken(Self.token(changes))
        let error = #expect(throws: OAuthError.self) { try token.check(Self.expectation, sent: Self.now) }
        #expect(error?.kind == .untrusted)
    }

    @Test(arguments: [-7_200, 7_200, 86_400 * 365])
    func `this computer's clock doesn't count`(_ offset: Int) throws {
        let then = Int(Date.now.timeIntervalSince1970) + offset
        let times: [String: JSONValue?] = [
            "iat": .integer(Int64(then)), "nbf": .integer(Int64(then)), "exp": .integer(Int64(then + 3_600)),
        ]
        let token = try IDToken(Self.token(times))
        try token.check(Self.expectation, sent: nil)
        try token.check(Self.expectation, sent: Date(timeIntervalSince1970: Double(then + 2)))
        let stale = Date(timeIntervalSince1970: Double(then + 7_200))
        #expect(throws: OAuthError.self) { try token.check(Self.expectation, sent: stale) }
    }

    @Test func `a token that was never good is refused without the authority's clock too`() throws {
        let token = try IDToken(Self.token(["iat": .integer(1_000_000), "exp": .integer(999_000), "nbf": nil]))
        #expect(throws: OAuthError.self) { try token.check(Self.expectation, sent: nil) }
    }

    @Test(arguments: ["", "a.b", "a.b.c", "e30.e30.x", "e30.bm90IGpzb24.x"])
    func `what is no token is an error`(_ text: String) {
        #expect(throws: OAuthError.self) { try IDToken(Secret(text)) }
    }
}
