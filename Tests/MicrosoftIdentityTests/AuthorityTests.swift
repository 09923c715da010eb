import JSON
import Testing
import Vectors

@testable import MicrosoftIdentity

struct AuthorityTests {
    @Test(arguments: Vectors.followed("authority"))
    func `authorities are read as MSAL reads them`(_ vector: VectorCase) throws {
        let kind = vector.text("as").flatMap { Authority.Kind(rawValue: $0) }
        guard vector.expect["valid"] == .bool(true) else {
            let error = #expect(throws: AuthorityError.self) { try Authority(vector.text("url"), as: kind) }
            #expect(error?.microsoftsWording == vector.expected("error"))
            return
        }
        var authority = try Authority(vector.text("url"), as: kind)
        if let tenant = vector.text("raw_tenant") { authority = try authority.replacingTenant(tenant) }
        #expect(authority.kind.rawValue == vector.expected("kind"))
        if let value = vector.expected("environment") { #expect(authority.environment == value) }
        if let value = vector.expected("tenant") { #expect(authority.tenant == value) }
        if let value = vector.expected("policy") { #expect(authority.policy == value) }
        if let value = vector.expected("url") { #expect(authority.url == value) }
        if let value = vector.expected("tenant_type") { #expect(authority.audience.rawValue == value) }
    }

    @Test(arguments: [
        "https://user@login.microsoftonline.com/common", "https://login.microsoftonline.com\\@evil.example/common",
        "https://login.microsoftonline.com/co%6Dmon", "https://login.microsoftonline.com/../common",
        "https:///common", "https://löginn.example/common", "not a url", "https://login.microsoftonline.com/a b",
        "https://host:0/common", "https://host:70000/common",
    ])
    func `a URL that two readers could read differently is refused`(_ text: String) {
        #expect(throws: AuthorityError.malformed) { try Authority(text) }
    }

    @Test func `http is refused even for a loopback host`() {
        #expect(throws: AuthorityError.notHTTPS) { try Authority("http://localhost:8080/common") }
    }

    @Test(arguments: [
        ("https://contoso.b2clogin.com/contoso.onmicrosoft.com/Custom_Policy", true),
        ("https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/B2C_1_susi", true),
        ("https://login.contoso.com/tenant/b2c_1_susi", true),
        ("https://contoso.b2clogin.com.evil.example/tenant/policy", false),
        ("https://b2clogin.com/tenant/policy", false),
    ])
    func `a B2C authority is told by its host or its policy`(_ text: String, _ isB2C: Bool) throws {
        #expect(try (Authority(text).kind == .b2c) == isB2C)
    }

    @Test func `a custom domain with a custom policy is B2C where the plugin says so`() throws {
        let authority = try Authority(
            "https://login.contoso.com/11111111-2222-3333-4444-555555555555/Sign_Up", as: .b2c)
        #expect(authority.policy == "Sign_Up")
        #expect(authority.url == "https://login.contoso.com/11111111-2222-3333-4444-555555555555/Sign_Up")
    }

    @Test func `another tenant cannot lead to another host`() throws {
        let authority = try Authority("https://login.microsoftonline.com/common")
        #expect(throws: AuthorityError.malformed) { try authority.replacingTenant("../../other.example/tenant") }
    }

    @Test(arguments: Vectors.followed("endpoints"))
    func `endpoints are where MSAL has them`(_ vector: VectorCase) throws {
        if let text = vector.text("authority") {
            let endpoints = ConventionalEndpoints(base: try Authority(text).url)
            #expect(endpoints.authorization == vector.expected("authorization_endpoint"))
            #expect(endpoints.token == vector.expected("token_endpoint"))
            return
        }
        let endpoints = ConventionalEndpoints(
            base: try #require(vector.text("base")), version: try #require(vector.text("api_version")))
        if let value = vector.expect["token"] { #expect(endpoints.token == value.string) }
        if let value = vector.expect["jwks"] { #expect(endpoints.keys == value.string) }
    }
}

extension AuthorityError {
    /// The message of MSAL for Objective-C for this error, as in the vectors.
    fileprivate var microsoftsWording: String? {
        switch self {
        case .missing: "'authority' is a required parameter and must not be nil or empty."
        case .notHTTPS: "authority must use HTTPS."
        case .noTenant: "authority must have AAD tenant."
        case .shortB2C:
            "B2C authority should have at least 3 segments in the path (i.e. https://<host>/tfp/<tenant>/<policy>/...)"
        case .wrongKind(.aad, .b2c): "Trying to initialize AAD authority with B2C authority url."
        case .wrongKind, .malformed: nil
        }
    }
}
