import Addresses
import Testing

/// What `https_proxy` may be, for sign-ins and `lanyard doctor` alike.
@Suite struct ProxyURLTests {
    private static let rows: [(text: String, place: String, user: String?, password: String)] = [
        ("http://proxy.example:3128", "proxy.example:3128", nil, ""),
        ("proxy.example:8080", "proxy.example:8080", nil, ""),
        ("proxy.example", "proxy.example:1080", nil, ""), ("http://proxy.example:", "proxy.example:1080", nil, ""),
        ("proxy:80", "proxy:80", nil, ""),
        ("HTTP://Proxy.example/", "proxy.example:1080", nil, ""), ("10.0.0.1:3128", "10.0.0.1:3128", nil, ""),
        ("http://[::1]:3128", "[::1]:3128", nil, ""), ("[2001:DB8::1]:3128/", "[2001:db8::1]:3128", nil, ""),
        ("http://proxy.example:1/path?q=@evil.example", "proxy.example:1", nil, ""),
        ("http://user@proxy.example:1", "proxy.example:1", "user", ""),
        ("user:pass@proxy.example", "proxy.example:1080", "user", "pass"),
        ("http://user:@proxy.example:1", "proxy.example:1", "user", ""),
        ("http://:pass@proxy.example:1", "proxy.example:1", "", "pass"),
        ("http://a%40b:p%3Aq%2f@proxy.example:1", "proxy.example:1", "a@b", "p:q/"),
        ("http://user:p@ss:w^rd@proxy.example:1", "proxy.example:1", "user", "p@ss:w^rd"),
        ("http://DOMAIN\\user:pä$$&;{}|\"<>@proxy.example:1", "proxy.example:1", "DOMAIN\\user", "pä$$&;{}|\"<>"),
        ("http://user:p w@proxy.example:1", "proxy.example:1", "user", "p w"),
        ("http://user:100%@proxy.example:1", "proxy.example:1", "user", "100%"),
        ("http://user:%zz%41%4@proxy.example:1", "proxy.example:1", "user", "%zzA%4"),
        ("http://proxy.example\\@other.example/y@", "other.example:1080", "proxy.example\\", ""),
        ("socks5://proxy.example:9050", "proxy.example:9050", nil, ""),
        ("socks5h://proxy.example", "proxy.example:1080", nil, ""), ("SOCKS5H://[::1]:9/", "[::1]:9", nil, ""),
        ("socks4a://proxy.example", "proxy.example:1080", nil, ""),
        ("https://proxy.example", "proxy.example:443", nil, ""),
        ("socks5://user:pass@proxy.example", "proxy.example:1080", "user", "pass"),
    ]

    @Test(arguments: rows)
    func `a proxy is read whatever its password`(text: String, place: String, user: String?, password: String) throws {
        let proxy = try #require(ProxyURL(text))
        #expect(proxy.place == place && proxy.user == user && proxy.password == password)
        #expect(proxy.kind == (text.contains("://") ? text.split(separator: ":")[0].lowercased() : "http"))
        #expect("\(proxy.name):\(proxy.port)" == place.filter { $0 != "[" && $0 != "]" })
    }

    @Test(arguments: [
        "socks5://", "socks6://proxy.example",
        "ftp://proxy.example",
        "ftp://http://proxy.example", "http://", "http:///path", "http://user@", "http://user@:3128", "", ":3128", "@",
        "http://proxy.example:0", "http://proxy.example:65536", "http://proxy.example:0x50",
        "http://proxy.example:80:80", "http://proxy.example:80:", "http://proxy.example::", "proxy.example:",
        "http:1:/",
        "[::1]:", "http://pro xy.example", "http://proxy.example\r\n",
        "user:http://a@proxy.example",
        "http://user:p\nw@proxy.example", "http://user:%0d%0a@proxy.example",
        "http://us%00er@proxy.example", "http://user:%ff@proxy.example", "http://pröxy.example", "http://127.1:80",
        "http://2130706433:80", "http://[::1", "http://::1:80", "http://proxy.example%2f.evil.example",
    ])
    func `what is no such proxy isn't read`(text: String) {
        #expect(ProxyURL(text) == nil)
    }
}
