import AsyncHTTPClient
import NIOSSL
import Testing

@testable import OAuth

struct ProxyTests {
    @Test(arguments: [
        ("http://proxy.example:3128", "proxy.example", 3_128), ("proxy.example:8080", "proxy.example", 8_080),
        ("http://user:pass@proxy.example:1", "proxy.example", 1), ("http://[::1]:3128", "::1", 3_128),
    ])
    func `the proxy is read as curl reads it`(_ text: String, _ host: String, _ port: Int) throws {
        let settings = try ProxySettings(environment: ["https_proxy": text, "HTTPS_PROXY": "http://other:1"])
        #expect(settings.proxy?.host == host)
        #expect(settings.proxy?.port == port)
        let basic = HTTPClient.Authorization.basic(username: "user", password: "pass")
        #expect(settings.proxy?.authorization == (text.contains("@") ? basic : nil))
        #expect(settings.name == (host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"))
    }

    @Test(arguments: [[:], ["https_proxy": ""]])
    func `an empty variable names no proxy`(_ environment: [String: String]) throws {
        let settings = try ProxySettings(environment: environment)
        #expect(settings.proxy == nil)
    }

    @Test(
        arguments: [
            (["all_proxy": "http://a:1", "ALL_PROXY": "http://b:1"], "a:1"),
            (["ALL_PROXY": "socks5://b"], "socks5h://b:1080"),
            (["HTTPS_PROXY": "http://c:1", "all_proxy": "http://a:1"], "c:1"),
            (["https_proxy": "", "all_proxy": "socks5h://[::1]:9"], "socks5h://[::1]:9"),
            (["http_proxy": "http://d:1"], nil),
        ] as [([String: String], String?)])
    func `a variable for all protocols counts if there is none for https`(
        _ environment: [String: String], _ place: String?
    ) throws {
        let settings = try ProxySettings(environment: environment)
        #expect(settings.name == place)
        let isSOCKS = settings.proxy.map { $0 == .socksServer(host: $0.host, port: $0.port) } ?? false
        #expect(isSOCKS == environment.values.contains { $0.hasPrefix("socks") })
    }

    @Test(arguments: [
        "socks4://proxy.example:1080", "socks://proxy.example", "socks5://user:pass@proxy.example",
        "https://proxy.example",
        "http://",
    ])
    func `a proxy of another kind is an error`(_ text: String) {
        for name in ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
            let error = #expect(throws: OAuthError.self) { try ProxySettings(environment: [name: text]) }
            #expect(error?.message == "the proxy that \(name) names cannot be used")
        }
    }

    @Test(arguments: [
        ("https://id.example/token", true), ("https://id.example/~alice/token;v=1?a=%20b", true),
        ("https://[::1]:8443/%7E", true), ("https://other.example/~alice", false),
    ])
    func `a path that is no plain name doesn't pass the proxy by`(_ url: String, _ isProxied: Bool) throws {
        let settings = try ProxySettings(
            environment: ["https_proxy": "http://user:pass@proxy.example:3128", "no_proxy": "other.example"])
        let clients = Clients(.makeClientConfiguration(), settings, limits: .init())
        defer { clients.close() }
        #expect(clients.proxy(for: url) == (isProxied ? "proxy.example:3128" : nil))
    }

    @Test(arguments: [
        ("login.microsoftonline.com", true), ("x.corp.example", true), ("corp.example", true),
        ("notcorp.example", false), ("localhost", true), ("other.example", false),
    ])
    func `no_proxy excepts hosts and domains`(_ host: String, _ excepted: Bool) throws {
        let settings = try ProxySettings(
            environment: ["no_proxy": "login.microsoftonline.com:443, .corp.example,localhost,other.example:8443"])
        #expect(settings.excepts(host: host, port: 443) == excepted)
    }

    @Test(arguments: [
        ("a.example b.example", "b.example", true), ("a.example\tb.example,,", "x.b.example", true),
        ("a.example.", "a.example", true), ("*", "a.example", true), ("*, b.example", "a.example", false),
        ("A.EXAMPLE", "a.example", true), ("10.0.0.0/8", "10.200.3.4", true), ("10.0.0.0/8", "11.0.0.1", false),
        ("192.168.4.0/22", "192.168.7.255", true), ("192.168.4.0/22", "192.168.8.0", false),
        ("127.0.0.1", "127.0.0.1", true), ("10.1", "127.0.10.1", false), ("0.0.0.0/0", "8.8.8.8", true),
        ("::1", "[::1]", true), ("[::1]", "[0:0::1]", true), ("fd00::/8", "[fd12::1]", true),
        ("fd00::/8", "10.0.0.1", false),
        ("10.0.0.0/33", "10.0.0.1", false), (".", "a.example", false), ("ple", "a.example", false),
    ])
    func `no_proxy has curl's forms`(_ list: String, _ host: String, _ excepted: Bool) throws {
        #expect(try ProxySettings(environment: ["no_proxy": list]).excepts(host: host, port: 443) == excepted)
    }
}
