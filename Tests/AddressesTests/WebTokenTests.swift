import Addresses
import Testing

/// JSON Web Tokens cut into their parts, and what is none.
@Suite struct WebTokenTests {
    @Test(arguments: [
        ("eyJhbGciOiJub25lIn0.eyJhIjoxfQ.", #"{"alg":"none"}"#, #"{"a":1}"#),
        ("eyJhbGciOiJub25lIn0.eyJhIjoxfQ==.c2ln", #"{"alg":"none"}"#, #"{"a":1}"#),
        ("!.Zm9v.!", "", "foo"), ("..", "", ""), (".Zm9v.", "", "foo"), ("Zm9v.Pz8/.x", "foo", "???"),
    ])
    func `a signed token has a header and claims`(text: String, header: String, payload: String) throws {
        let token = try #require(WebToken(text))
        #expect(token.header == Array(header.utf8) && token.payload == Array(payload.utf8))
    }

    @Test(arguments: ["eyJhbGciOiJSU0EtT0FFUCJ9.a.b.c.d", "....", "Zg.Zm9v.Zm9v.Zm9v.Zm9v"])
    func `the claims of an encrypted token can't be read`(text: String) throws {
        #expect(try #require(WebToken(text)).payload == nil)
    }

    @Test(arguments: [
        "", "Zm9v", "Zm9v.Zm9v", "a.Zm9v.b.c", "a.Zm9v.b.c.d.e", "a.Zm9v.b.c.d.", ".....", "a.Z.b", "a.Zm 9v.b",
        "a.Zm9v\n.b", "a.Zm9v\u{301}.b", "a\u{301}.Zm9v.b\u{FF0E}c.d", "a.Zm9v===.b", "a\u{FF0E}Zm9v\u{FF0E}b",
        String(repeating: ".", count: 1 << 20), "a.\(String(repeating: "Zm9v", count: 1 << 18))Zg.b",
        "a.Zm9v.\(String(repeating: "s", count: 1 << 20 | 1))",
    ])
    func `what has other parts is no token`(text: String) {
        #expect(WebToken(text) == nil)
    }
}
