import Testing

@testable import LanyardCommands

/// URLs that people typed, shown to them again in parts.
@Suite struct TypedURLTests {
    @Test(
        arguments: [
            ("https://h.example", "https://me@h.example"), ("https://you@h.example/a?b", "https://me@h.example/a?b"),
            ("https://h.example?x@y/", "https://me@h.example?x@y/"),
            ("https://h.example#x@y/", "https://me@h.example#x@y/"),
            ("https://a:b@h.example:8443/x@y", "https://me@h.example:8443/x@y"), ("h.example/a", nil),
        ] as [(String, String?)])
    func `another user name leaves the host`(url: String, named: String?) {
        #expect(url.naming(user: "me") == named)
    }

    @Test(arguments: [
        ("https://h.example/a/b", "https://h.example"), ("https://me@h.example:8443", "https://me@h.example:8443"),
        ("https://h.example?a/b", "https://h.example"), ("https://h.example#a", "https://h.example"),
        ("the request", "the request"),
    ])
    func `a URL's place is all before its path`(url: String, place: String) {
        #expect(url.placeOfURL == place)
    }
}
