import Addresses
import Foundation
import TestSupport
import Testing

@Suite struct StrictURLTests {
    @Test(arguments: URLCase.all)
    func `a URL has one host or is refused`(row: URLCase) {
        #expect(StrictURL(row.url)?.host.text == row.host)
    }

    /// Returns what `readers.py` makes of each URL: curl, then Python's two parsers.
    private func readings(of urls: [String]) async throws -> [[String?]] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().path(percentEncoded: false)
        let input = String(decoding: try JSONEncoder().encode(urls), as: UTF8.self)
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let ended = try await run("python3", [folder + "readers.py"], input: input, environment: ["PATH": path])
        try #require(ended.status == 0, "\(ended.errors)")
        return try JSONDecoder().decode([[String?]].self, from: Data(ended.output.utf8))
    }

    @Test func `a host that is taken is the one that curl and Python connect to`() async throws {
        let urls = URLCase.all.map(\.url).filter { !$0.utf8.contains(0) }
        let readings = try await readings(of: urls)
        try #require(readings.count == urls.count)
        for (url, others) in zip(urls, readings) {
            guard let read = StrictURL(url) else { continue }
            let port = read.scheme == "https" ? 443 : 80
            let host = RequestHost(name: String(read.host.name.prefix { $0 != "%" }), port: read.host.port)
            let text = host.withoutPort(port).text
            #expect(
                others.count == 3 && others.allSatisfy { $0 == text }, "\(url.debugDescription): \(text), \(others)")
        }
        // The parsers must disagree about some rejected URLs; otherwise this proves nothing.
        let apart = zip(urls, readings).filter { StrictURL($0) == nil && Set($1).count > 1 }
        #expect(apart.count > 20, "\(apart.count)")
    }

    @Test func `a URL is cut into all its parts`() throws {
        let url = try #require(StrictURL("HTTPS://al%40ce:p:w@h.example:8443/a/%62?q#f"))
        #expect(url.scheme == "https" && url.user == "al%40ce" && url.password == "p:w")
        #expect(url.host == RequestHost(name: "h.example", port: 8443))
        #expect(url.path == "/a/%62" && url.tail == "/a/%62?q#f" && url.hasQueryOrFragment)
        let bare = try #require(StrictURL("https://h.example"))
        #expect(bare.user == nil && bare.password == nil && bare.tail.isEmpty && !bare.hasQueryOrFragment)
    }

    @Test(arguments: URLCase.all)
    func `nothing before the query of a URL changes its host`(row: URLCase) {
        guard let url = StrictURL(row.url) else { return }
        #expect(StrictURL(String(row.url[...].beforeQuery))?.host == url.host)
        #expect(row.url.withHTTPS == row.url)
        // Without its scheme, it is an https URL of the same host.
        let bare = String(decoding: row.url.utf8.dropFirst(url.scheme.utf8.count + 3), as: UTF8.self)
        #expect(StrictURL(bare.withHTTPS)?.host == url.host)
    }

    @Test(
        arguments: [
            ("good.example", "https://good.example"), ("good.example/a", "https://good.example/a"),
            ("good.example:8443", "https://good.example:8443"), ("HTTP://good.example", "HTTP://good.example"),
            ("good.example/?u=https://evil.example", "https://good.example/?u=https://evil.example"),
            ("good.example#://evil.example", "https://good.example#://evil.example"), ("//good.example", nil),
            ("a@b://evil.example", nil), ("://good.example", nil), ("\u{301}://good.example", nil), ("", nil),
        ] as [(String, String?)])
    func `a host without a scheme is one of https`(text: String, url: String?) {
        #expect((StrictURL(text.withHTTPS) == nil ? nil : text.withHTTPS) == url)
    }

    @Test(arguments: [
        ("a?b#c", "a"), ("a#b?c", "a"), ("a", "a"), ("?", ""), ("a\u{301}?\u{301}b", "a\u{301}"),
        ("a/\u{301}#\u{301}", "a/\u{301}"),
    ])
    func `the query begins at a byte, whatever combines with it`(text: String, before: String) {
        #expect(text[...].beforeQuery.isSame(as: before))
    }

    @Test func `each class of bytes holds what it says`() {
        func members(_ isIn: (UInt8) -> Bool) -> String { String(decoding: (0...255).filter(isIn), as: UTF8.self) }
        let (digits, capitals) = ("0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        #expect(members(\.isDigit) == digits && members(\.isLetter) == capitals + capitals.lowercased())
        #expect(members(\.isAlphanumeric) == digits + capitals + capitals.lowercased())
        #expect(members(\.isHexadecimal) == digits + "ABCDEFabcdef")
        #expect(members(\.isLabelByte) == "-" + digits + capitals + "_" + capitals.lowercased())
        #expect(members(\.isUnreserved) == "-." + digits + capitals + "_" + capitals.lowercased() + "~")
        #expect(members(\.isVisibleASCII).utf8.count == 94 && !members(\.isVisibleASCII).hasControlCharacter)
        #expect("a\u{1F}".hasControlCharacter && "\u{7F}".hasControlCharacter && !" ä\u{85}".hasControlCharacter)
    }

    @Test(arguments: [
        ("https://*.example/a", "*.example"), ("https://*.*.example", "*.*.example"), ("https://h*.example", nil),
        ("https://*:8443", "*:8443"), ("https://[*]", nil), ("https://*evil.example/", nil),
    ])
    func `of a pattern a whole label may be a wildcard`(text: String, host: String?) {
        #expect(StrictURL(pattern: text)?.host.text == host)
    }

    @Test(arguments: [
        "", "a b", "a%b", "a\\b", "Größe/%20", "a/b?c=d", "%2F", "%252F", "%25252F", "a%3Fb?c", "%", "%%2F", "%2",
    ])
    func `a path that is encoded reads back`(path: String) throws {
        let url = try #require(StrictURL("https://h.example/" + path.percentEncodedPath))
        #expect(url.tail.percentDecodedPath == "/" + path)
    }

    @Test(
        arguments: [
            ("My%20Project/%C3%BCber", "My Project/über"), ("a%2fb", "a%2Fb"), ("a%5Cb", "a\\b"),
            ("a%252Fb", "a%252Fb"),
            ("a%253fb%23", "a%253fb%23"), ("%2e%2E", ".."), ("50%25%20off", "50% off"), ("a%", nil), ("%FF", nil),
        ] as [(String, String?)])
    func `of a path's escapes those stay that change what it says`(written: String, decoded: String?) {
        #expect(written.percentDecodedPath == decoded)
    }

    @Test(
        arguments: [
            ("a", "a", true), ("a/", "a", true), ("a/b", "a", true), ("ab", "a", false), ("a", "a/b", false),
            ("a/b", "a/", true), ("a", "", true), (nil, "", true), (nil, "a", false), ("a?b", "a", true),
            ("A/b", "a", false), ("a//b", "a", true), ("a//b", "a/b", false), ("/a", "a", false), ("a/./b", "a", true),
            ("./a", "a", false), ("a%2Fb", "a/b", false), ("a%2Fb", "a", false), ("a/b%2Fc", "a", true),
            ("a/b%2Fc/d", "a/b%2Fc", true), ("a/...", "a", true), ("a/..b", "a", true), ("a%3Fb", "a", false),
            ("a/..", "a", false), ("a/../b", "a", false), ("a/../b", "", true), ("../a", "a", false),
            ("a/%2e%2e/b", "a", false), ("a/.%2E/b", "a", false), ("a/%252e%252e/b", "a", false),
            ("a/..%2Fb", "a", false), ("a/x%2F..%2F..%2Fb", "a", false), ("a/..\\b", "a", false),
            ("a\\..\\b", "a", false), ("a/..%5Cb", "a", false), ("a/..;x/b", "a", false), ("a/%2e%2e%3B/b", "a", false),
        ] as [(String?, String, Bool)])
    func `a path is below another only if that is so for every server`(path: String?, other: String, isBelow: Bool) {
        #expect(URLPath(path).isBelow(URLPath(other)) == isBelow)
        #expect(URLPath(path).isBelow(URLPath(other), ignoringCase: true) == (isBelow || path == "A/b"))
    }

    @Test(
        arguments: [
            ("a:b:c", ":", "a", "b:c", "a:b", "c"), (":\u{301}", ":", "", "\u{301}", "", "\u{301}"),
            ("x\u{301}:", ":", "x\u{301}", "", "x\u{301}", ""),
        ] as [(String, Unicode.Scalar, String, String, String, String)])
    func `text is cut by bytes`(
        text: String, at: Unicode.Scalar, before: String, after: String, beforeLast: String, afterLast: String
    ) throws {
        let first = try #require(text.cut(at: at))
        #expect(first.0.isSame(as: before) && first.1.isSame(as: after))
        let last = try #require(text.cut(atLast: at))
        #expect(last.0.isSame(as: beforeLast) && last.1.isSame(as: afterLast))
        #expect(text.pieces(between: at, omittingEmpty: false).first?.isSame(as: before) == true)
    }

    @Test func `text is replaced and trimmed by bytes`() {
        #expect("a'\u{301};'b".replacing(bytes: "'", with: "''").isSame(as: "a''\u{301};''b"))
        #expect("{t}/{t}x".replacing(bytes: "{t}", with: "u") == "u/ux" && "".replacing(bytes: "x", with: "y").isEmpty)
        #expect(" \u{301}x \t".trimmed().isSame(as: "\u{301}x") && "  ".trimmed().isEmpty)
        #expect("a=b=c".pieces(between: "=", maxSplits: 1) == ["a", "b=c"])
        #expect("=\u{301}=".pieces(between: "=", omittingEmpty: false).map { $0.utf8.count } == [0, 2, 0])
    }

    @Test func `what is canonically equal is not the same`() {
        #expect("é" == "e\u{301}" && !"é".isSame(as: "e\u{301}"))
        #expect(";" == "\u{37E}" && !";".isSame(as: "\u{37E}"))
        #expect("a/\u{301}b".hasBytes("/") && !"a/\u{301}b".contains("/"))
        #expect(!"aab".hasBytes("aba") && "aab".hasBytes("ab") && "".hasBytes(""))
    }
}

@Suite struct RequestHostTests {
    @Test(
        arguments: [
            ("[fe80::1%eth0]:8443", "fe80::1%eth0", 8443), ("[FE80::1%Eth0]", "fe80::1%Eth0", nil),
            ("h.example:65535", "h.example", 65_535),
        ] as [(String, String, Int?)])
    func `a host is read as git sends it`(text: String, name: String, port: Int?) throws {
        let host = try #require(RequestHost(text))
        #expect(host == RequestHost(name: name, port: port))
        #expect(RequestHost(host.text) == host)
        #expect(StrictURL("https://\(host.urlText)/")?.host == host)
    }

    @Test(arguments: [
        ("h:443", "https", "h"), ("h:80", "http", "h"), ("h:80", "https", "h:80"), ("h:443", "http", "h:443"),
        ("[::1]:443", "https", "[::1]"), ("h:443", "imap", "h:443"), ("h", "https", "h"),
    ])
    func `a scheme's own port is none`(text: String, scheme: String, host: String) throws {
        #expect(try #require(RequestHost(text)).withoutOwnPort(of: scheme).text == host)
    }

    @Test(arguments: [
        ("a.example", "*.example", true), ("a.b.example", "*.example", false), ("example", "*.example", false),
        (".example", "*.example", false), ("a.example", "a.example", true), ("a.example:8443", "*.example", false),
        ("evila.example", "*a.example", false), ("a.evil", "*.example", false), ("a.b.example", "*.*.example", true),
        ("\u{E9}.example", "e\u{301}.example", false),
    ])
    func `an asterisk stands for one whole label`(host: String, pattern: String, isMeant: Bool) {
        #expect(host.isHost(meantBy: pattern) == isMeant)
    }

    @Test(arguments: [
        "[fe80::1%25eth0%]", "[fe80::1%]", "[fe80::1%a b]", "h%eth0", "h.", "h..x", "*.example", "h:+1", "h:01", "é",
        "h\u{301}", "h:8\u{301}", "[::1]:\u{301}1", "[::1\u{301}]", "127.1", "0x1",
    ])
    func `what others would read otherwise is refused`(text: String) {
        #expect(RequestHost(text) == nil)
    }
}
