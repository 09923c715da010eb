import Addresses
import Testing

/// URLs that are fetched, opened or trusted, and authorities' URLs, which are stricter still.
@Suite struct WebURLTests {
    @Test(arguments: URLCase.all)
    func `a hostile URL leads nowhere else`(row: URLCase) {
        let read = StrictURL(web: row.url)
        if let read { #expect(read.host.text == row.host && read.user == nil && read.password == nil) }
        #expect(StrictURL(https: row.url)?.host == (read?.scheme == "https" ? read?.host : nil))
        guard let authority = AuthorityURL(row.url) else { return }
        #expect(authority.host == StrictURL(https: row.url)?.hostText)
        #expect(StrictURL(authority.description)?.hostText == authority.host)
    }

    /// A URL, its host as records have it, and whether it can be an authority's; without a host, it is none at all.
    static let rows: [(url: String, host: String?, isAuthority: Bool)] = [
        ("https://login.example", "login.example", true), ("https://login.example/", "login.example", true),
        ("HTTPS://Login.Example:443/Tenant/", "login.example", true),
        ("https://login.example:8443/a/b.c_d-e", "login.example:8443", true),
        ("https://login.example/~alice", "login.example", true), ("https://127.0.0.1/t", "127.0.0.1", true),
        ("https://login.example/a//b", "login.example", false), ("https://login.example//", "login.example", false),
        ("https://login.example/../t", "login.example", false), ("https://login.example/./t", "login.example", false),
        ("https://login.example/%2e%2e/t", "login.example", false),
        ("https://login.example/co%6Dmon", "login.example", false),
        ("https://login.example/t;v=1", "login.example", false), ("https://login.example/a:b", "login.example", false),
        ("https://login.example/a@b", "login.example", false), ("https://login.example/t?q", "login.example", false),
        ("https://login.example?", "login.example", false), ("https://login.example/t#f", "login.example", false),
        ("https://login.example#", "login.example", false), ("https://[::1]:8443/t", "[::1]:8443", false),
        ("https://login.example/1/2/3/4/5/6/7/8", "login.example", true),
        ("https://login.example/1/2/3/4/5/6/7/8/9", "login.example", false),
        ("https://login.example/\(String(repeating: "a", count: 256))", "login.example", false),
        ("https://login.example/tenänt", nil, false), ("https://alice@login.example/t", nil, false),
        ("https://@login.example/t", nil, false), ("https://alice:secret@login.example/t", nil, false),
        ("https://[fe80::1%25eth0]/t", nil, false), ("https://login.example/%zz", nil, false),
        ("ftp://login.example/t", nil, false), ("file:///etc/passwd", nil, false), ("javascript:alert(1)", nil, false),
        ("https:login.example", nil, false), ("login.example", nil, false), ("", nil, false),
    ]

    @Test(arguments: rows)
    func `a URL of the web is plain`(url: String, host: String?, isAuthority: Bool) {
        #expect(StrictURL(web: url)?.hostText == host)
        #expect(StrictURL(https: url)?.hostText == host)
        #expect(AuthorityURL(url)?.host == (isAuthority ? host : nil))
    }

    @Test(arguments: [
        ("http://localhost:1234/", true), ("http://127.0.0.1", true), ("http://[::1]:80/", true),
        ("http://LocalHost/", true), ("http://login.example/", false), ("http://localhost.evil.example/", false),
        ("http://127.0.0.1.evil.example/", false), ("http://127.0.0.2/", false),
        ("http://evil.example/localhost", false),
    ])
    func `http is this computer's only by name`(text: String, isLoopback: Bool) throws {
        let url = try #require(StrictURL(web: text))
        #expect(url.isLoopbackHTTP == isLoopback && StrictURL(https: text) == nil)
    }

    @Test func `a URL has its segments and says whether a fragment follows`() throws {
        let url = try #require(StrictURL(https: "https://h.example//a/%62/?q=/c#d"))
        #expect(url.segments == ["a", "%62"] && url.hasFragment && url.origin == "https://h.example")
        #expect(StrictURL("HTTPS://u:p@H.example:443?q")?.origin == "HTTPS://u:p@H.example:443")
        #expect(try !#require(StrictURL(https: "https://h.example/a?q")).hasFragment)
        #expect(try #require(StrictURL(https: "https://h.example")).segments.isEmpty)
    }

    @Test(arguments: [
        ("grpc://h.example:8443/a?b", "https://h.example:8443/a?b"),
        ("HTTP://user@h.example", "https://user@h.example"),
        ("h.example", "h.example"), ("imap:h.example", "imap:h.example"), ("", ""),
    ])
    func `a URL gets another scheme`(text: String, other: String) {
        #expect(text.with(scheme: "https") == other)
    }

    @Test(arguments: [
        ("127.0.0.1:4711", true), ("LOCALHOST:4711", true), ("[::1]:4711", true), ("localhost", false),
        ("localhost:4712", false), ("evil.example:4711", false), ("localhost.evil.example:4711", false),
        ("127.0.0.1.evil.example:4711", false), ("[::1%lo]:4711", false), ("::1:4711", false), ("127.1:4711", false),
        ("localhost:04711", false), ("localhost:4711:4711", false), ("user@localhost:4711", false),
    ])
    func `only this machine's names are its own`(header: String, isOurs: Bool) {
        #expect((RequestHost(header)?.isThisMachine(at: 4711) ?? false) == isOurs)
        #expect(RequestHost("localhost")?.isThisMachine(at: 80) == true)
    }

    @Test(arguments: [
        ("common", true), ("B2C_1.susi-~", true), ("...", true), ("", false), (".", false), ("..", false),
        ("a/b", false), ("a b", false), ("%61", false), ("a@b", false), ("ä", false), ("a\u{301}", false),
        (String(repeating: "a", count: 255), true), (String(repeating: "a", count: 256), false),
    ])
    func `a name stays one segment of a path`(text: String, isName: Bool) {
        #expect(text.isPathName == isName)
    }
}
