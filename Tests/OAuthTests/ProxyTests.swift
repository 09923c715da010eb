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

    @Test(arguments: ["socks5://proxy.example:1080", "https://proxy.example", "http://"])
    func `a proxy of another kind is an error`(_ text: String) {
        for name in ["https_proxy", "HTTPS_PROXY"] {
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
}
