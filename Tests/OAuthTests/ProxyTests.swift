import Addresses
import HTTP
import Testing

@testable import OAuth

struct ProxyTests {
    @Test(arguments: [
        ("http://proxy.example:3128", "proxy.example:3128"), ("proxy.example:8080", "proxy.example:8080"),
        ("http://user:pass@proxy.example:1", "proxy.example:1"), ("http://[::1]:3128", "[::1]:3128"),
        ("https://proxy.example", "https://proxy.example:443"),
    ])
    func `the proxy is read as curl reads it`(_ text: String, _ place: String) throws {
        let settings = try ProxySettings(environment: ["https_proxy": text, "HTTPS_PROXY": "http://other:1"])
        let proxy = try #require(settings.proxy(for: "id.example"))
        #expect(proxy.text == place && settings.source == "https_proxy")
        #expect(proxy.user == (text.contains("@") ? "user" : nil))
    }

    @Test(
        arguments: [
            (["all_proxy": "http://a:1", "ALL_PROXY": "http://b:1"], "a:1"),
            (["ALL_PROXY": "socks5://b"], "socks5://b:1080"),
            (["HTTPS_PROXY": "http://c:1", "all_proxy": "http://a:1"], "c:1"),
            (["https_proxy": "", "all_proxy": "socks5h://[::1]:9"], "socks5h://[::1]:9"),
            (["http_proxy": "http://d:1"], nil), (["https_proxy": ""], nil), ([:], nil),
        ] as [([String: String], String?)])
    func `a variable for all protocols counts if there is none for https`(
        _ environment: [String: String], _ text: String?
    ) throws {
        #expect(try ProxySettings(environment: environment).proxy(for: "id.example")?.text == text)
    }

    @Test(arguments: [("http://g:1", "g:1"), ("", nil), ("socks://g", "socks4://g:1080")])
    func `git's setting counts before the variables, and no_proxy for both`(_ setting: String, _ text: String?) throws {
        let settings = try ProxySettings(
            environment: ["https_proxy": "http://v:1", "no_proxy": "in.example"], setting: setting)
        #expect(settings.proxy(for: "id.example")?.text == text)
        #expect(settings.proxy(for: "in.example") == nil)
    }

    @Test(arguments: [
        "socks4b://proxy.example:1080", "ftp://proxy.example", "http://", "http://:80", "http://alice:pass@a b",
    ])
    func `a proxy of another kind is an error`(_ text: String) {
        for name in ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
            var settings = Transport.Settings(userAgent: "tests", environment: [name: text])
            settings.network.system = .init(folder: "/nowhere", bundles: [])
            let error = #expect(throws: OAuthError.self) { try Transport(settings) }
            #expect(error?.message == "the proxy that \(name) names cannot be used")
        }
    }

    @Test(arguments: [
        "http://proxy.example:99999", "http://proxy.example:port/", "proxy.example:0", "http://[::1]:1x",
        "socks5://alice:pass@proxy.example:65536",
    ])
    func `a port that can't be one is an error of its own`(_ text: String) {
        let settings = Transport.Settings(userAgent: "tests", environment: ["https_proxy": text])
        let error = #expect(throws: OAuthError.self) { try Transport(settings) }
        #expect(error?.message == "the proxy that https_proxy names has a port that can't be one")
    }

    @Test(arguments: [
        ("https://id.example/token", true), ("https://id.example/~alice/token;v=1?a=%20b", true),
        ("https://[::1]:8443/%7E", true), ("https://other.example/~alice", false),
    ])
    func `a path that is no plain name doesn't pass the proxy by`(_ url: String, _ isProxied: Bool) throws {
        let transport = try Transport(
            .init(
                userAgent: "tests",
                environment: ["https_proxy": "http://user:pass@proxy.example:3128", "no_proxy": "other.example"]))
        #expect(transport.proxy(for: url) == (isProxied ? "proxy.example:3128" : nil))
    }
}
