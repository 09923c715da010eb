import AsyncHTTPClient
import Testing

@testable import OAuth

struct ProxyTests {
    @Test(arguments: [
        ("http://proxy.example:3128", "proxy.example", 3_128), ("proxy.example:8080", "proxy.example", 8_080),
        ("http://user:pass@proxy.example:1", "proxy.example", 1),
    ])
    func `the proxy is read as curl reads it`(_ text: String, _ host: String, _ port: Int) throws {
        let settings = try ProxySettings(environment: ["https_proxy": text, "HTTPS_PROXY": "http://other:1"])
        #expect(settings.proxy?.host == host)
        #expect(settings.proxy?.port == port)
        #expect((settings.proxy?.authorization != nil) == text.contains("@"))
    }

    @Test(arguments: [[:], ["https_proxy": ""]])
    func `an empty variable names no proxy`(_ environment: [String: String]) throws {
        let settings = try ProxySettings(environment: environment)
        #expect(settings.proxy == nil)
    }

    @Test(arguments: ["socks5://proxy.example:1080", "https://proxy.example", "http://"])
    func `a proxy of another kind is an error`(_ text: String) {
        #expect(throws: OAuthError.self) { try ProxySettings(environment: ["https_proxy": text]) }
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
