import Foundation
import JSON
import PluginWire
import Secrets
import Testing

@testable import MicrosoftIdentity

struct IDTokenTests {
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

    private static let expectation = IDToken.Expectation(
        issuer: "https://login.microsoftonline.com/{tenantid}/v2.0",
        aliases: ["login.microsoftonline.com", "sts.windows.net"], audience: "client", nonce: "n")

    @Test(arguments: [
        [:], ["aud": JSONValue.array([.string("other"), .string("client")])], ["exp": .string("999800")],
        ["iss": .string("https://sts.windows.net/\(tenant)/v2.0/")], ["nbf": nil], ["nbf": .integer(1_000_200)],
    ])
    func `a right token passes`(_ changes: [String: JSONValue?]) throws {
        let token = try IDToken(Self.token(changes))
        try token.check(Self.expectation, sent: Self.now)
        #expect(token.username == "alice@contoso.example")
    }

    @Test(arguments: [
        ["iss": JSONValue.string("https://login.evil.example/\(tenant)/v2.0")],
        ["iss": .string("https://login.microsoftonline.com/other/v2.0")],
        ["iss": .string("http://login.microsoftonline.com/\(tenant)/v2.0")],
        ["tid": nil], ["aud": .string("another")], ["exp": .integer(999_600)], ["nbf": .integer(1_000_400)],
        ["nonce": .string("m")], ["nonce": nil],
    ])
    func `a wrong token is refused`(_ changes: [String: JSONValue?]) throws {
        let token = try IDToken(Self.token(changes))
        let error = #expect(throws: PluginError.self) { try token.check(Self.expectation, sent: Self.now) }
        #expect(error?.code == .internal)
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
        #expect(throws: PluginError.self) { try token.check(Self.expectation, sent: stale) }
    }

    @Test func `a token that was never good is refused without the authority's clock too`() throws {
        let token = try IDToken(Self.token(["iat": .integer(1_000_000), "exp": .integer(999_000), "nbf": nil]))
        #expect(throws: PluginError.self) { try token.check(Self.expectation, sent: nil) }
    }

    @Test(arguments: ["", "a.b", "a.b.c", "e30.e30.x", "e30.bm90IGpzb24.x"])
    func `what is no token is an error`(_ text: String) {
        #expect(throws: PluginError.self) { try IDToken(Secret(text)) }
    }
}
