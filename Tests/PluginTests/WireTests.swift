import Claims
import Secrets
import SeededRandom
import Testing

@testable import PluginHost
@testable import PluginWire

struct WireTests {
    private func block(_ lines: [(String, String)]) throws -> Attributes {
        var block = Attributes()
        for (key, value) in lines { try block.append(key, value) }
        return block
    }

    private static let result = [
        ("event", "result"), ("access_token", "AT"), ("expires_in", "3600"), ("scope[]", "s"),
        ("home_account_id", "u.t"), ("environment", "login.example"), ("realm", "r"), ("username", "alice"),
    ]

    private func result(_ key: String? = nil, _ value: String? = nil) throws -> PluginResult {
        var lines = Self.result.filter { $0.0 != key }
        if let key, let value { lines.append((key, value)) }
        return try PluginResult(WireReader(try block(lines)), of: .authorize)
    }

    @Test func `a full request survives the wire, and an unknown key does not matter`() throws {
        var request = PluginRequest.sample(.renew)
        request.redirectURI = "http://localhost:8400"
        request.flows = [.browser, .deviceCode]
        request.signIn.prompt = "login"
        request.signIn.loginHint = "alice@contoso.example"
        request.signIn.domainHint = "contoso.example"
        request.signIn.queryParameters = ["a": "b=c", "ui_locales": "de"]
        request.signIn.resetPolicy = "B2C_1_reset"
        request.claims = #"{"access_token":{"nbf":{"essential":true}}}"#
        request.capabilities = [.claimsChallenge]
        request.account = "u.t"
        request.idTokenHint = Secret("ID")
        request.network.caFiles = ["/etc/ca.pem", "/home/a/b.pem"]
        request.network.proxy = Secret("http://user:pass@proxy.example:3128")
        request.network.proxyAuthentication = "negotiate"
        request.network.caFolder = "/etc/certs"
        (request.network.certificate, request.network.certificateKey) = ("/home/a/own.pem", "/home/a/key.pem")
        request.network.oldestTLS = "1.3"
        request.knownHosts = ["localhost:8443"]
        request.issuerHosts = ["login.contoso.example"]
        request.correlationID = "c0"
        request.kind = "gitlab"
        request.clientName = "Contoso's tools"
        request.purpose = "https://git.contoso.example/app"
        request.clientSecret = Secret("kept by GitHub's users")
        request.resources = ["https://api.example/", "urn:example:api"]
        request.memo = "what the plugin said last"
        var block = try request.wire()
        try block.append("grease_x", "y")
        #expect(try PluginRequest(wire: block) == request)
    }

    @Test func `a registration survives the wire, and so does what takes it back`() throws {
        var registration = PluginRegistration(clientID: "c1", clientSecret: Secret("s"))
        registration.secretExpiresAt = 1_900_000_000
        registration.management = .init(uri: "https://id.example/r?client_id=c1", token: Secret("t"))
        #expect(try PluginRegistration(WireReader(registration.wire())) == registration)

        var request = PluginRequest.sample(.unregister)
        request.registration = registration.management
        #expect(try PluginRequest(wire: request.wire()) == request)
        request.registration = nil
        let block = try request.wire()
        #expect(throws: PluginError.self) { try PluginRequest(wire: block) }
    }

    @Test func `a full result survives the wire`() throws {
        var result = try result()
        result.extendedExpiresIn = 7200
        result.refreshIn = 1800
        result.refreshToken = Secret("RT")
        result.familyID = "1"
        result.idToken = Secret("ID")
        result.declinedScopes = ["d"]
        result.account?.name = "Alice Å"
        result.account?.localAccountID = "oid"
        result.account?.authorityType = "MSA"
        result.account?.homeRealms = ["tid", "contoso.example"]
        result.account?.kind = "work or school"
        result.account?.clientInfo = "eyJ1aWQi"
        result.basicUsername = "oauth2"
        result.clientSecret = Secret("S 1")
        result.memo = PluginMemo(#"{"token_endpoint":"https://login.example/t"}"#, expiresIn: 86_400)
        #expect(try PluginResult(WireReader(try result.wire()), of: .authorize) == result)
        (result.expiresIn, result.clientSecret) = (nil, nil)
        #expect(try PluginResult(WireReader(try result.wire()), of: .renew) == result)
    }

    private static func managed(_ id: String) -> PluginIdentity {
        var identity = PluginIdentity(.managed)
        identity.managedID = id
        identity.variables = [
            PluginField("IDENTITY_ENDPOINT", Secret("http://127.0.0.1/?a=b")), PluginField("_E", Secret("")),
        ]
        return identity
    }

    private static func client(certificate: String? = nil, assertion: String? = nil) -> PluginIdentity {
        var identity = PluginIdentity(.client)
        identity.certificate = certificate
        identity.certificatePassword = certificate == nil ? nil : Secret("p w")
        identity.assertion = assertion
        return identity
    }

    @Test(arguments: [
        managed("system"), managed("resource-id:/subscriptions/x/providers/y"), client(certificate: "/etc/x.pem"),
        client(assertion: "github-actions"), client(assertion: "file:/run/secrets/a token"),
        PluginIdentity(PluginIdentity.Kind(rawValue: "badge")),
    ])
    func `an identity survives the wire`(_ identity: PluginIdentity) throws {
        var request = PluginRequest(.authenticate)
        if identity.kind == .client {
            request.authority = "https://login.example/r"
            request.clientID = "c"
        }
        request.scopes = ["s/.default"]
        request.identity = identity
        #expect(try PluginRequest(wire: try request.wire()) == request)
    }

    @Test(arguments: [
        ("identity", nil), ("client_secret", nil), ("client_id", nil), ("authority", nil),
        ("certificate", "/a/second/proof"), ("certificate", "relative.pem"), ("assertion", "gitlab"),
        ("variable[]", "no name"), ("variable[]", "1A=b"), ("variable[]", "A-B=c"),
    ])
    func `an identity that can't be right is refused`(_ key: String, _ value: String?) throws {
        var request = PluginRequest(.authenticate)
        request.authority = "https://login.example/r"
        request.clientID = "c"
        request.clientSecret = Secret("cs")
        request.identity = PluginIdentity(.client)
        var block = try request.wire()
        #expect(throws: Never.self) { try PluginRequest(wire: block) }
        if value == nil { block.remove(key) }
        if let value { try block.append(key, value) }
        let error = #expect(throws: PluginError.self) { try PluginRequest(wire: block) }
        #expect(error?.code == .invalidRequest)
    }

    @Test(arguments: ["", "user", "client-id:", "client-id", "object-id:a b", "System"])
    func `a machine's identity is named in one of four ways`(_ id: String) throws {
        var request = PluginRequest(.authenticate)
        request.identity = Self.managed(id)
        #expect(throws: PluginError.self) { try PluginRequest(wire: try request.wire()) }
    }

    @Test(arguments: [
        ("exchange", nil), ("audience", nil), ("audience", "https://registry.example/"), ("access_token", nil),
        ("access_token", "a b"), ("client_id", nil), ("resource[]", "no scheme"), ("resource[]", "https://a/#b"),
        ("resource[]", "relative"),
    ])
    func `an exchange is asked for whole`(_ key: String, _ value: String?) throws {
        var request = PluginRequest.sample(.exchange)
        request.exchange = "acr"
        request.audience = "registry.example:8443"
        request.audiencePath = "arn:aws:iam::1:role/a"
        request.accessToken = Secret("AT")
        var block = try request.wire()
        #expect(try PluginRequest(wire: block) == request)
        block.remove(key)
        if let value { try block.append(key, value) }
        let error = #expect(throws: PluginError.self) { try PluginRequest(wire: block) }
        #expect(error?.code == .invalidRequest)
    }

    private static let tooManyFields: [(String, String)] = (0...64).map { ("field[]", "F\($0)=x") }

    @Test func `a credential survives the wire`() throws {
        var credential = PluginCredential(
            username: Secret("AKIA0"), secret: Secret("a b/c=="),
            fields: [PluginField("SESSION_TOKEN", Secret("x=y==")), PluginField("REGION", Secret(""))], expiresIn: 900)
        credential.memo = PluginMemo("m", expiresIn: 60)
        credential.refreshIn = 600
        #expect(try PluginCredential(WireReader(try credential.wire())) == credential)
        credential.secret = nil
        credential.username = nil
        credential.expiresIn = nil
        #expect(try PluginCredential(WireReader(try credential.wire())) == credential)
    }

    @Test(arguments: [
        [("username", "u")], [("secret", "a\u{7}b")], [("secret", "s"), ("username", "a:b")],
        [("secret", "s"), ("field[]", "=x")], [("secret", "s"), ("expires_in", "x")],
        [("secret", "s"), ("refresh_in", "-1")],
        [("secret", "s"), ("memo", "m"), ("memo_expires_in", "0")],
        [("secret", "s"), ("memo", "m"), ("memo_expires_in", "2592001")],
        [("secret", "s"), ("memo", String(repeating: "m", count: 16_385)), ("memo_expires_in", "1")],
        tooManyFields,
    ])
    func `a credential that can't be right is refused`(_ lines: [(String, String)]) throws {
        let block = try block([("event", "result")] + lines)
        #expect(throws: ProtocolError.self) { try PluginCredential(WireReader(block)) }
    }

    @Test func `what nobody signed in for has no account and nothing to renew it by`() throws {
        let lines = Self.result.filter { !["home_account_id", "username"].contains($0.0) }
        let token = try PluginResult(WireReader(try block(lines)), of: .authenticate)
        #expect(token.account == nil)
        #expect(try PluginResult(WireReader(try token.wire()), of: .authenticate) == token)
        for more in [("home_account_id", "u.t"), ("refresh_token", "RT")] {
            let block = try block(lines + [more])
            #expect(throws: ProtocolError.unexpected(more.0)) { try PluginResult(WireReader(block), of: .authenticate) }
        }
        #expect(throws: ProtocolError.missing("home_account_id")) {
            try PluginResult(WireReader(try block(lines)), of: .authorize)
        }
    }

    @Test func `a description survives the wire`() throws {
        var description = PluginDescription(name: "n", version: "1", protocols: ["v1"], flows: [.paste])
        description.identities = [.client, .managed]
        description.exchanges = ["acr"]
        #expect(try PluginDescription(WireReader(try description.wire())) == description)
    }

    @Test func `what a probe found survives the wire`() throws {
        var broker = PluginProbe([.authority])
        broker.accounts = ["alice@contoso.com", "Bob Builder"]
        for probe in [PluginProbe([]), PluginProbe([.authority, .client], time: 0, proxy: "p:1"), broker] {
            #expect(try PluginProbe(WireReader(try probe.wire())) == probe)
        }
        for (key, value) in [
            ("time", "-1"), ("time", "soon"), ("proxy", "a b"), ("checked[]", "a b"), ("account[]", "a\u{1B}"),
        ] {
            let wrong = try block([("event", "result"), (key, value)])
            #expect(throws: ProtocolError.invalid(key)) { try PluginProbe(WireReader(wrong)) }
        }
        var request = PluginRequest.sample(.probe)
        #expect(try PluginRequest(wire: try request.wire()) == request)
        request.authority = ""
        let error = #expect(throws: PluginError.self) { try PluginRequest(wire: try request.wire()) }
        #expect(error?.code == .invalidRequest)
    }

    @Test func `a full error survives the wire`() throws {
        var error = PluginError(.declinedScopes, "declined", hint: "ask")
        error.error = "invalid_grant"
        error.suberror = "bad_token"
        error.errorCodes = ["E76", "65001"]
        error.reasons = [.otherAccount, .policy]
        error.correlationID = "c"
        error.retryAfter = 3
        error.claims = "{}"
        error.grantedScopes = ["a"]
        error.declinedScopes = ["b"]
        error.parameter = "role"
        error.choices = ["1/Dev (account one)", "2/Dev"]
        #expect(try PluginError(WireReader(try error.wire())) == error)
    }

    @Test func `what an authority said and nobody can read costs no more than that`() throws {
        let wire = try block([
            ("event", "error"), ("code", "interaction-required"), ("hint", "ask"), ("error", "invalid grant"),
            ("suberror", String(repeating: "x", count: 257)), ("error_code[]", "E 76"), ("error_code[]", "65001"),
            ("correlation_id", "ü"), ("reason[]", "dead-token"),
        ])
        var error = PluginError(.interactionRequired, "interaction-required", hint: "ask")
        error.errorCodes = ["65001"]
        error.reasons = [.deadToken]
        #expect(try PluginError(WireReader(wire)) == error)
    }

    @Test(arguments: [
        PluginEvent.openURL(url: "https://login.example/a?b=c", redirectURI: "http://localhost:1"),
        .openURL(url: "http://127.0.0.1:8080/x", redirectURI: nil),
        .showCode(userCode: "ABCD", verificationURI: "https://login.example/d", message: "go", expiresIn: 900),
        .showCode(
            userCode: "ABCD", verificationURI: "https://login.example/d",
            completeURI: "https://login.example/d?user_code=ABCD", message: "go", expiresIn: 900),
        .prompt(kind: .confirm, message: "sure?"), .progress(message: "working"),
        .openWindow(program: "the machine's broker"),
    ])
    func `an event survives the wire`(_ event: PluginEvent) throws {
        guard case .event(let read) = try PluginMessage(WireReader(try event.wire())) else {
            Issue.record("not an event")
            return
        }
        #expect(read == event)
    }

    @Test(arguments: [
        PluginReply.done, .redirected(Secret("http://localhost:1/?code=x")), .answer(Secret("a b")), .unsupported,
        .cancelled,
    ])
    func `a reply survives the wire`(_ reply: PluginReply) throws {
        #expect(PluginReply(wire: try reply.wire(to: "prompt")) == reply)
    }

    @Test(arguments: [
        ("access_token", nil), ("access_token", "a b"), ("access_token", "é"), ("access_token", "a\tb"),
        ("expires_in", "-1"), ("expires_in", "+1"), ("expires_in", "1e3"),
        ("expires_in", "315360001"), ("expires_in", "99999999999999999999"), ("refresh_in", "x"),
        ("home_account_id", nil), ("home_account_id", "a\u{7}b"), ("environment", "Login.example"),
        ("environment", "login.example/x"), ("environment", "a@b"), ("environment", "login.example:0"),
        ("environment", nil), ("realm", nil), ("realm", "a b"), ("username", "a\u{1B}b"), ("scope[]", "a b"),
        ("scope[]", "a\"b"), ("client_info", "a+b"), ("refresh_token", "a\u{1B}b"), ("family_id", "a b"),
        ("home_realm[]", "a b"), ("account_kind", "a\tb"), ("basic_username", "a:b"), ("basic_username", "a\tb"),
        ("memo", "no lifetime"),
    ])
    func `a result that can't be right is refused`(_ key: String, _ value: String?) throws {
        #expect(throws: ProtocolError.self) { try result(key, value) }
    }

    @Test(arguments: [
        ("operation", nil, PluginError.Code.invalidRequest), ("operation", "dance", .unsupported),
        ("authority", nil, .invalidRequest), ("authority", "http://login.example/r", .invalidRequest),
        ("client_id", nil, .invalidRequest), ("refresh_token", nil, .invalidRequest),
        ("known_host[]", "Not A Host", .invalidRequest),
        ("issuer_host[]", "https://login.contoso.example", .invalidRequest),
        ("prompt", "please", .invalidRequest), ("query_parameter[]", "=x", .invalidRequest),
        ("query_parameter[]", "state=mine", .invalidRequest), ("reset_policy", "a/b", .invalidRequest),
        ("scope[]", "a b", .invalidRequest),
    ])
    func `a request that can't be right is refused`(_ key: String, _ value: String?, _ code: PluginError.Code) throws {
        var block = try PluginRequest.sample(.renew).wire()
        block.remove(key)
        if let value { try block.append(key, value) }
        let error = #expect(throws: PluginError.self) { try PluginRequest(wire: block) }
        #expect(error?.code == code)
    }

    @Test(arguments: [
        ("https://login.example/x", true), ("HTTPS://Login.Example:8443/x?a=b#c", true),
        ("http://localhost:1234/", true), ("http://127.0.0.1/", true), ("http://[::1]:80/", true),
        ("http://login.example/", false), ("https://", false), ("https:///x", false), ("javascript:alert(1)", false),
        ("file:///etc/passwd", false), ("https://a@b/", false), ("https://a:b@c/", false), ("https://a\\b/", false),
        ("https://a b/", false), ("https://é.example/", false), ("http://localhost.evil.example/", false),
        ("http://127.0.0.1.evil.example/", false), ("http://[::1].evil.example/", false), ("https:a", false),
        ("-https://a/", false), ("https://a:70000/", false), ("http://[::1", false),
    ])
    func `only pages that mean one thing everywhere are opened`(_ url: String, _ isSafe: Bool) {
        #expect(WireForm.page.accepts(url) == isSafe)
    }

    @Test(arguments: [
        [("event", "show-code"), ("user_code", "A"), ("verification_uri", "http://localhost/d"), ("expires_in", "9")],
        [("event", "show-code"), ("user_code", "A B"), ("verification_uri", "https://a.b/d"), ("expires_in", "9")],
        [("event", "show-code"), ("user_code", "A"), ("verification_uri", "https://a.b/d")],
        [("event", "show-code"), ("user_code", "A"), ("verification_uri", "https://a.b/d"), ("expires_in", "0")],
        [
            ("event", "show-code"), ("user_code", "A"), ("verification_uri", "https://a.b/d"), ("expires_in", "9"),
            ("verification_uri_complete", "http://a.b/d?c=A"),
        ],
        [("event", "open-url")], [("event", "prompt"), ("message", "x")], [("event", "a b")], [("event", "error")],
    ])
    func `an event that can't be right is refused`(_ lines: [(String, String)]) throws {
        let block = try block(lines)
        #expect(throws: ProtocolError.self) { try PluginMessage(WireReader(block)) }
    }

    @Test(arguments: [[("event", "x-new"), ("a", "b")], [("event", "prompt"), ("kind", "x-new")]])
    func `an event of a later version is unknown, not broken`(_ lines: [(String, String)]) throws {
        guard case .unknown = try PluginMessage(WireReader(try block(lines))) else {
            Issue.record("taken for something known")
            return
        }
    }

    @Test func `a message with line breaks is written on one line`() throws {
        let block = try PluginError(.internal, "one\ntwo\0three").wire()
        #expect(block["message"] == "one?two?three")
    }

    @Test func `no random bytes break the reader, and what it accepts it can write`() throws {
        var random = SeededGenerator(seed: 20_261_121)
        let seeds = try [
            PluginError(.throttled, "x").wire().terminated, try result().wire().terminated,
            PluginEvent.showCode(userCode: "A", verificationURI: "https://a.b/", message: "m", expiresIn: 9).wire()
                .terminated,
        ]
        var accepted = 0
        for _ in 0..<5_000 {
            var bytes = seeds[Int.random(in: 0..<seeds.count, using: &random)]
            for _ in 0...Int.random(in: 0...3, using: &random) { Mutation.apply(to: &bytes, using: &random) }
            var exchange = ConversationState(plugin: "fuzzed")
            let cut = Int.random(in: 0...bytes.count, using: &random)
            let steps = exchange.receive(Array(bytes[..<cut])).steps + exchange.receive(Array(bytes[cut...])).steps
            _ = exchange.finish()
            for case .end(.result(let block)) in steps {
                guard let read = try? PluginResult(WireReader(block), of: .authorize) else { continue }
                accepted += 1
                #expect(try PluginResult(WireReader(try read.wire()), of: .authorize) == read)
            }
        }
        #expect(accepted > 100)
    }
}

/// Small random damage to bytes.
enum Mutation {
    static func apply(to bytes: inout [UInt8], using random: inout SeededGenerator) {
        guard !bytes.isEmpty else { return bytes.append(10) }
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: index)
        case 2: bytes.insert([10, 13, 0, 61, 91, 93, 128, 255].randomElement(using: &random) ?? 10, at: index)
        case 3: bytes.insert(contentsOf: bytes[index...].prefix(40), at: index)
        default: bytes.removeLast(min(bytes.count, 5))
        }
    }
}
