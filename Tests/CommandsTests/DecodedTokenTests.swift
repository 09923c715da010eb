import Foundation
import Secrets
import Terminal
import Testing

@testable import CommandKit
@testable import Commands
@testable import Diagnosis

/// Decoded access tokens with arbitrary contents.
@Suite struct DecodedTokenTests {
    private static func token(_ claims: String) -> Secret {
        let parts = [#"{"alg":"RS256"}"#, claims, "signature"].map { part in
            Data(part.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                .replacing("=", with: "")
        }
        return Secret(parts.joined(separator: "."))
    }

    @Test func `registered claims come first, with times in words`() throws {
        let claims = #"{"zz":1,"exp":3600,"aud":["a","b"],"nbf":-60,"wids":{"x":[1]},"iat":"soon","admin":true}"#
        let decoded = try DecodedToken(Self.token(claims), now: 0)
        let lines = decoded.lines(columns: nil).map { $0.split(separator: " ").joined(separator: " ") }
        #expect(lines.map { $0.prefix { $0 != " " } } == ["aud", "exp", "nbf", "iat", "admin", "wids", "zz"])
        #expect(lines[0] == "aud a b" && lines[1].hasSuffix("in 60 minutes") && lines[2].hasSuffix("60 seconds ago"))
        #expect(lines[3] == "iat soon" && lines[4] == "admin true" && lines[5] == #"wids {"x":[1]}"#)
    }

    @Test func `what a claim holds can't move the cursor or forge a line`() throws {
        let claims =
            #"{"aud":"a\nlanyard: signed in","e\u001b[2J":["\u001b[1m"],"exp":9223372036854775807,"nbf":-9223372036854775808}"#
        let text = try DecodedToken(Self.token(claims), now: 0).lines(columns: nil).joined(separator: "\n")
        #expect(!text.unicodeScalars.contains("\u{1B}") && text.split(separator: "\n").count == 4, "\(text)")
    }

    @Test(arguments: [
        "", "opaque", "a.b", "a.b.c", "..", "e30.e30.", "eyJhbGciOiJub25lIn0.W10.", "eyJhbGciOiJub25lIn0.!.x",
        "eyJhbGciOiJub25lIn0.e30.x.y",
    ])
    func `what is no JWT is called opaque`(_ text: String) {
        #expect(throws: CommandError.opaqueToken) { try DecodedToken(Secret(text), now: 0) }
    }

    @Test func `an encrypted token is called that`() {
        #expect(throws: CommandError.encryptedToken) {
            try DecodedToken(Secret("eyJhbGciOiJSU0EtT0FFUCJ9.a.b.c.d"), now: 0)
        }
    }
}
