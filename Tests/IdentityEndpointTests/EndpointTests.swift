import Foundation
import IdentityEndpoint
import JSON
import Secrets
import Testing
import Vectors

/// Requests to the endpoints, and their answers; no token is actually acquired.
@Suite struct EndpointTests {
    private static let key = "0123456789abcdef0123456789abcdef"
    private static let port = 4711

    private static func order(
        _ kind: String = "managed-identity", secret: String = key,
        resources: [String] = ["https://vault.azure.net", "api://app/"], options: [String] = []
    ) throws -> EndpointOrder? {
        var block = Attributes()
        try block.append("serve", kind)
        try block.append("secret", secret)
        try block.append("process", "17")
        try block.append("program", "/usr/bin/lanyard")
        try block.append("option[]", list: options)
        try block.append("resource[]", list: resources)
        return EndpointOrder(block)
    }

    private static func service(_ kind: String = "managed-identity") throws -> any TokenService {
        let order = try #require(try order(kind, options: ["--account", "alice"]))
        return kind == "azd" ? ExternalAuthService(order) : ManagedIdentityService(order)
    }

    private static func request(
        _ method: String = "GET",
        _ target: String = "/msi/token?api-version=2019-08-01&resource=https://vault.azure.net",
        _ headers: [String: [String]] = [:], body: String? = ""
    ) -> EndpointRequest {
        let usual = ["host": ["127.0.0.1:4711"], "x-identity-header": [key], "authorization": ["Bearer \(key)"]]
        return EndpointRequest(method: method, target: target, headers: usual.merging(headers) { $1 }, body: body)
    }

    private static func accepted(_ request: EndpointRequest, _ kind: String = "managed-identity") throws -> TokenQuery {
        let query = EndpointMain.accepted(request, try service(kind), port: port)
        let wanted: TokenQuery? = if case .wanted(let wanted) = query { wanted } else { nil }
        return try #require(wanted)
    }

    private static func refused(
        _ request: EndpointRequest, _ kind: String = "managed-identity"
    ) throws -> EndpointAnswer {
        let query = EndpointMain.accepted(request, try service(kind), port: port)
        let answer: EndpointAnswer? = if case .refused(let answer) = query { answer } else { nil }
        return try #require(answer)
    }

    // MARK: - A managed identity

    @Test(arguments: BrokerVectors.followed("identity-endpoint"))
    func `programs are answered as App Service does`(_ vector: VectorCase) throws {
        let query = try #require(vector.input["query"]?.members).map { "\($0.key)=\($0.value.string ?? "")" }
        let secret = try #require(vector.text("secret"))
        let padding = String(repeating: "x", count: 32)
        var headers = ["host": ["127.0.0.1:4711"]]
        for (name, value) in vector.input["headers"]?.members ?? [:] {
            let isSecret = name.lowercased() == "x-identity-header"
            headers[name.lowercased()] = [(value.string ?? "") + (isSecret ? padding : "")]
        }
        let order = try #require(try Self.order(secret: secret + padding))
        let service = ManagedIdentityService(order)
        let incoming = EndpointRequest(
            method: vector.text("method") ?? "", target: "/msi/token?" + query.joined(separator: "&"), headers: headers)
        let answer: EndpointAnswer
        switch EndpointMain.accepted(incoming, service, port: Self.port) {
        case .wanted(let query):
            if let scope = vector.expected("scope") { #expect(query.names.map { "\($0)/.default" } == [scope]) }
            answer = service.answer(
                to: query, .token(["accessToken": "T", "expires_on": 1_900_000_000, "tokenType": "Bearer"]), now: 0)
        case .refused(let refusal): answer = refusal
        }
        if let status = vector.expect["status"]?.wholeNumber {
            #expect(answer.status == status)
        } else {
            #expect((400..<500).contains(answer.status))
        }
        for name in vector.expectedTexts("body_has") { #expect(answer.body[name]?.string != nil, "\(name)") }
        for name in vector.expectedTexts("body_has_not") { #expect(answer.body[name] == nil, "\(name)") }
        if let type = vector.expected("token_type") { #expect(answer.body["token_type"]?.string == type) }
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        var method = "GET"
        var target = "/msi/token?api-version=2019-08-01&resource=https://vault.azure.net"
        var headers: [String: [String]] = [:]
        let status: Int
        var testDescription: String { "\(status) \(method) \(target) \(headers)" }
    }

    private static let refused = [
        Refused(headers: ["host": []], status: 421),
        Refused(headers: ["host": ["127.0.0.1"]], status: 421),
        Refused(headers: ["host": ["127.0.0.1:4712"]], status: 421),
        Refused(headers: ["host": ["rebound.example:4711"]], status: 421),
        Refused(headers: ["host": ["127.0.0.1:4711", "127.0.0.1:4711"]], status: 421),
        Refused(headers: ["x-forwarded-for": ["127.0.0.1"]], status: 403),
        Refused(headers: ["forwarded": ["for=127.0.0.1"]], status: 403),
        Refused(headers: ["x-identity-header": []], status: 401),
        Refused(headers: ["x-identity-header": [""]], status: 401),
        Refused(headers: ["x-identity-header": [key + "0"]], status: 401),
        Refused(headers: ["x-identity-header": [String(key.dropLast()) + "0"]], status: 401),
        Refused(headers: ["x-identity-header": [key, key]], status: 401),
        Refused(method: "POST", status: 405),
        Refused(method: "HEAD", status: 405),
        Refused(target: "/", status: 404),
        Refused(target: "/token?api-version=2019-08-01&resource=https://vault.azure.net", status: 404),
        Refused(target: "/msi/token", status: 400),
        Refused(target: "/msi/token?api-version=2017-09-01&resource=https://vault.azure.net", status: 400),
        Refused(target: "/msi/token?api-version=2019-08-01", status: 400),
        Refused(target: "/msi/token?api-version=2019-08-01&resource=", status: 400),
        Refused(target: "/msi/token?api-version=2019-08-01&resource=https://graph.example", status: 400),
        Refused(target: "/msi/token?api-version=2019-08-01&resource=https://vault.azure.net/keys", status: 400),
        Refused(target: "/msi/token?api-version=2019-08-01&resource=https://VAULT.azure.net", status: 400),
        Refused(target: "/msi/token?api-version=2019-08-01&resource=--account=bob", status: 400),
        Refused(
            target: "/msi/token?api-version=2019-08-01&resource=api%3A%2F%2Fapp&resource=api%3A%2F%2Fapp", status: 400),
        Refused(target: "/msi/token?api-version=2019-08-01&resource=api%3A%2F%2Fapp%0Ax", status: 400),
        Refused(
            target: "/msi/token?api-version=2019-08-01&resource=" + String(repeating: "a", count: 4096), status: 400),
    ]

    @Test(arguments: refused)
    func `a request that isn't the command's own gets no token`(_ given: Refused) throws {
        let error = try Self.refused(Self.request(given.method, given.target, given.headers))
        #expect(error.status == given.status)
        #expect(error.body["statusCode"]?.wholeNumber == given.status && error.body["message"]?.string != nil)
        #expect(!error.content.contains(Self.key))
    }

    @Test func `programs differ in a resource's last slash, and whose identity they name doesn't count`() throws {
        let service = try Self.service()
        for (resource, host) in [
            ("https%3A%2F%2Fvault.azure.net%2F", "localhost:4711"), ("api://app", "[::1]:4711"),
            ("https://vault.azure.net&client_id=c0c0&mi_res_id=/subscriptions/x", "LOCALHOST:4711"),
        ] {
            let target = "/msi/token?api-version=2019-08-01&resource=\(resource)"
            let query = try Self.accepted(Self.request("GET", target, ["host": [host]]))
            #expect(query.names.count == 1)
            let expected = ["token", "--json", "--non-interactive", "--account", "alice", "--resource", query.names[0]]
            #expect(service.arguments(for: query) == expected)
        }
    }

    @Test func `what failed is told in App Service's form, and only what may pass is worth another try`() throws {
        let service = try Self.service(), query = try Self.accepted(Self.request())
        let needed = service.answer(to: query, .needsUser("nobody has signed in; hint: lanyard login"), now: 0)
        #expect(needed.status == 400)
        #expect(needed.body["message"]?.string == "lanyard: nobody has signed in; hint: lanyard login")
        #expect(service.answer(to: query, .failed("no network"), now: 0).status == 503)
        #expect(service.answer(to: query, .token([:]), now: 0).status == 500)
        let endless = service.answer(to: query, .token(["accessToken": "T"]), now: 1000)
        #expect(endless.body["expires_on"] == "1300" && endless.body["resource"] == "https://vault.azure.net")
    }

    // MARK: - The Azure Developer CLI

    @Test(arguments: BrokerVectors.followed("azd-endpoint"))
    func `azd is answered as it wants of others`(_ vector: VectorCase) throws {
        let authorization = vector.text("authorization")?.replacing("KEY", with: Self.key) ?? ""
        let body = try #require(vector.input["body"]).encodedText
        let incoming = Self.request(
            vector.text("method") ?? "", vector.text("path") ?? "", ["authorization": [authorization]], body: body)
        let query = try Self.accepted(incoming, "azd")
        let outcome: TokenOutcome =
            vector.input["signed_in"] == .bool(false)
            ? .needsUser("not logged in") : .token(["token": "T", "expiresOn": "2027-01-01T12:00:00Z"])
        let answer = try Self.service("azd").answer(to: query, outcome, now: 0)
        #expect(answer.status == vector.expect["status"]?.wholeNumber ?? 200)
        if let body = vector.expect["body"] { #expect(answer.body == body) }
        for (name, value) in vector.expect["body_has"]?.members ?? [:] { #expect(answer.body[name] == value) }
    }

    @Test func `azd's scopes and tenant go to lanyard`() throws {
        let body = #"{"scopes":["a/.default","b"],"tenantId":"contoso.example"}"#
        let target = "/token?api-version=2023-07-12-preview"
        let query = try Self.accepted(Self.request("POST", target, body: body), "azd")
        #expect(
            try Self.service("azd").arguments(for: query) == [
                "azd", "auth", "token", "--output", "json", "--no-prompt", "--scope", "a/.default", "--scope", "b",
                "--tenant-id", "contoso.example",
            ])
        #expect(try Self.service("azd").answer(to: query, .failed("x"), now: 0).body["code"] == "GetTokenError")
    }

    @Test(
        arguments: [
            (401, #"{"scopes":["a"]}"#, ["authorization": ["Bearer x"]]),
            (401, #"{"scopes":["a"]}"#, ["authorization": [key]]),
            (400, "", [:]), (400, "{}", [:]), (400, #"{"scopes":[]}"#, [:]), (400, #"{"scopes":["a",1]}"#, [:]),
            (400, #"{"scopes":["--claims"]}"#, [:]), (400, #"{"scopes":["a b"]}"#, [:]),
            (400, #"{"scopes":["a"],"tenantId":"--scope"}"#, [:]), (400, nil, [:]),
            (403, #"{"scopes":["a"]}"#, ["x-forwarded-for": ["10.0.0.1"]]),
        ] as [(Int, String?, [String: [String]])])
    func `what isn't azd's gets no token`(_ status: Int, _ body: String?, _ headers: [String: [String]]) throws {
        let target = "/token?api-version=2023-07-12-preview"
        let error = try Self.refused(Self.request("POST", target, headers, body: body), "azd")
        #expect(error.status == status)
    }

    @Test func `an order must be whole`() throws {
        #expect(try Self.order() != nil)
        #expect(try Self.order("azd", resources: []) != nil)
        #expect(try Self.order("imds") == nil)
        #expect(try Self.order(secret: "short") == nil)
        #expect(try Self.order(resources: []) == nil)
        #expect(EndpointOrder(Attributes()) == nil)
    }
}
