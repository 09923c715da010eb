import Addresses
import Foundation
import JSON
import PluginWire
import Secrets
import TestSupport
import Testing

@testable import MicrosoftIdentity
@testable import OAuth
@testable import PluginOAuth

/// Applications that get tokens by themselves.
struct ApplicationTests {
    private typealias Reply = ApplicationScenario.Reply

    private static func refusal(_ number: Int, error: String = "invalid_client", status: Int = 401) -> Reply {
        Reply(
            status: status,
            body: #"{"error":"\#(error)","error_codes":[\#(number)],"error_description":"AADSTS\#(number): no"}"#)
    }

    // MARK: The authority

    @Test(arguments: [
        7_000_215, 7_000_222, 700_016, 700_027, 700_024, 70021, 700_213, 700_211, 700_212, 7_002_138, 70023, 53003,
        50142, 65001, 50076,
    ])
    func `what Entra refuses is never a user's to solve, and the hint is an administrator's`(_ number: Int)
        async throws
    {
        for error in [
            "invalid_client", "invalid_grant", "unauthorized_client", "access_denied", "interaction_required",
        ] {
            try await ApplicationScenario.with(tokens: [Self.refusal(number, error: error)]) { scenario in
                let told = await scenario.refusal(scenario.request())
                #expect(told?.code == .invalidRequest)
                #expect(told?.errorCodes == ["AADSTS\(number)"])
                #expect(told?.message.contains("AADSTS\(number)") == true)
                #expect(told?.hint?.contains("sign in") != true && told?.hint?.contains("public client") != true)
                #expect(scenario.tokenVisits.count == 1)
            }
        }
    }

    @Test func `a server error is tried once more, and throttling isn't`() async throws {
        try await ApplicationScenario.with(tokens: [
            Reply(status: 503, body: ""), Reply(body: ApplicationScenario.tokens),
        ]) {
            let result = try await $0.authenticate($0.request())
            #expect(result.accessToken.reveal() == "AT" && $0.tokenVisits.count == 2)
        }
        try await ApplicationScenario.with(tokens: [Reply(status: 500, body: "")]) { scenario in
            #expect(await scenario.refusal(scenario.request())?.code == .unavailable)
            #expect(scenario.tokenVisits.count == 2)
        }
        try await ApplicationScenario.with(tokens: [Reply(status: 429, body: "")]) { scenario in
            #expect(await scenario.refusal(scenario.request())?.code == .throttled)
            #expect(scenario.tokenVisits.count == 1)
        }
    }

    @Test func `a federated credential that doesn't match is told in what it has to name`() async throws {
        let claims = #"{"iss":"https://issuer.example/","sub":"repo:O/R:ref","aud":["api://it"],"jti":"private"}"#
        let assertion = "e30.\(Base64URL.encode(Data(claims.utf8))).c2ln"
        try await ApplicationScenario.with(tokens: [Self.refusal(700_213)]) { scenario in
            let told = await scenario.refusal(scenario.request(assertion: "variable:TOKEN", ["TOKEN": assertion]))
            for text in ["https://issuer.example/", "repo:O/R:ref", "api://it"] {
                #expect(told?.hint?.contains(text) == true, "\(String(describing: told?.hint))")
            }
            #expect(told?.hint?.contains("private") == false)
        }
    }

    @Test(arguments: [0o777, 0o702])
    func `a command that others may write to isn't run`(_ permissions: Int) async throws {
        try await ApplicationScenario.with(tokens: [Reply(body: ApplicationScenario.tokens)]) { scenario in
            let source = try scenario.write(
                "#!/bin/sh\n: >'\(scenario.absentPath)'\necho A.B.C\n", to: "source", permissions: permissions)
            let told = await scenario.refusal(scenario.request(assertion: "command:\(source)"))
            #expect(told?.message.contains("another user could have written") == true, "\(told?.message ?? "")")
            #expect(!FileManager.default.fileExists(atPath: scenario.absentPath))
            #expect(scenario.tokenVisits.isEmpty)
        }
    }

    @Test func `a fresh assertion is fetched for the second try`() async throws {
        try await ApplicationScenario.with(tokens: [Self.refusal(700_024), Reply(body: ApplicationScenario.tokens)]) {
            scenario in
            let script = "#!/bin/sh\necho x >>'\(scenario.absentPath)'\necho A.B.$(wc -l <'\(scenario.absentPath)')\n"
            let source = try scenario.write(script, to: "source", permissions: 0o700)
            _ = try await scenario.authenticate(scenario.request(assertion: "command:\(source)"))
            #expect(scenario.tokenVisits.map { $0.form["client_assertion"] } == ["A.B.1", "A.B.2"])
        }
    }

    @Test(arguments: [
        (["https://vault.azure.net/.default", "openid"], "https://vault.azure.net/.default"),
        (["https://vault.azure.net/user.read", "https://vault.azure.net/other"], "https://vault.azure.net/.default"),
        (["https://vault.azure.net"], "https://vault.azure.net/.default"),
        (["https://database.windows.net//.default"], "https://database.windows.net//.default"),
        (["User.Read"], "https://graph.microsoft.com/.default"),
        (["499b84ac-1321-427f-aa17-267ca6975798/.default"], "499b84ac-1321-427f-aa17-267ca6975798/.default"),
    ])
    func `scopes are one resource's, all of it`(_ scopes: [String], _ sent: String) async throws {
        try await ApplicationScenario.with { scenario in
            var request = scenario.request()
            request.scopes = scopes
            let result = try await scenario.authenticate(request)
            #expect(scenario.tokenVisits.last?.form["scope"] == sent)
            #expect(result.realm == ApplicationScenario.tenant)
            #expect(Set(scopes).isSubset(of: result.scopes))
        }
    }

    @Test(arguments: ["consumers", "COMMON", "tfp/tenant/policy"])
    func `no more than a tenant of Entra's is asked`(_ tenant: String) async throws {
        try await ApplicationScenario.with { scenario in
            #expect(await scenario.refusal(scenario.request(tenant: tenant))?.code == .invalidRequest)
            #expect(scenario.visits.isEmpty)
        }
    }

    @Test func `claims go along with the capabilities, and long-lived tokens are renewed at half their life`()
        async throws
    {
        let tokens = #"{"token_type":"Bearer","expires_in":7200,"access_token":"AT"}"#
        try await ApplicationScenario.with(tokens: [Reply(body: tokens)]) { scenario in
            var request = scenario.request()
            request.claims = #"{"access_token":{"nbf":{"essential":true,"value":"1"}}}"#
            request.capabilities = [.claimsChallenge]
            let result = try await scenario.authenticate(request)
            #expect(result.refreshIn == 3600)
            let claims = scenario.tokenVisits.last?.form["claims"].flatMap { JSONValue(bytes: $0.utf8) }
            #expect(
                claims == ["access_token": ["nbf": ["essential": true, "value": "1"], "xms_cc": ["values": ["CP1"]]]])
        }
    }

    // MARK: Sources of assertions

    @Test(arguments: [
        "github-actions", "azure-pipelines:id",
    ])
    func `a service's answer is never followed elsewhere, and never shown`(_ source: String) async throws {
        for reply in [
            Reply(status: 302, body: #"{"value":"A.B.C","oidcToken":"A.B.C"}"#), Reply(status: 200, body: "A.B.C"),
            Reply(status: 401, body: "A.B.C"), Reply(status: 200, body: #"{"value":"","oidcToken":""}"#),
            Reply(status: 503, body: "A.B.C"),
        ] {
            try await ApplicationScenario.with(assertion: reply) { scenario in
                let variables = [
                    "ACTIONS_ID_TOKEN_REQUEST_URL": "\(scenario.authority)/token?audience=theirs&audiences=1",
                    "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "the-job-token",
                    "SYSTEM_OIDCREQUESTURI": "\(scenario.authority)/token",
                    "SYSTEM_ACCESSTOKEN": "the-job-token",
                ]
                let told = await scenario.refusal(scenario.request(assertion: source, variables))
                #expect(told != nil && told?.hint != nil)
                #expect(told?.message.contains("A.B.C") == false && told?.message.contains("the-job-token") == false)
                #expect(scenario.tokenVisits.isEmpty && scenario.visits.allSatisfy { $0.path == "/token" })
                if source == "github-actions" {
                    #expect(scenario.visits[0].query == ["audience": "api://AzureADTokenExchange", "audiences": "1"])
                }
            }
        }
    }

    @Test(arguments: [
        "http://localhost/token", "https://user@localhost/token", "https://localhost/token#f", "token", "https://",
    ])
    func `a job's token goes to https only`(_ url: String) async throws {
        try await ApplicationScenario.with { scenario in
            let variables = [
                "ACTIONS_ID_TOKEN_REQUEST_URL": url, "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "t",
                "SYSTEM_OIDCREQUESTURI": url,
                "SYSTEM_ACCESSTOKEN": "t",
            ]
            for (source, name) in [
                ("github-actions", "ACTIONS_ID_TOKEN_REQUEST_URL"), ("azure-pipelines:id", "SYSTEM_OIDCREQUESTURI"),
            ] {
                let told = await scenario.refusal(scenario.request(assertion: source, variables))
                #expect(told?.code == .invalidRequest && told?.message == "the variable \(name) is no https URL")
            }
        }
    }

    @Test func `what a file or a command gives is checked before anything is asked`() async throws {
        try await ApplicationScenario.with { scenario in
            let sources = [
                "file:\(try scenario.write("", to: "empty"))", "file:\(try scenario.write(" \n", to: "blank"))",
                "file:\(try scenario.write("A.B.C\nD.E.F\n", to: "two"))",
                "file:\(try scenario.write(String(repeating: "A", count: 70_000), to: "huge"))", "file:/dev/zero",
                "file:/",
                "command:\(try scenario.write("#!/bin/sh\n", to: "silent", permissions: 0o700))",
                "command:\(try scenario.write("#!/bin/sh\necho A.B.C\nexit 1\n", to: "failing", permissions: 0o700))",
                "command:\(try scenario.write("#!/bin/sh\nexec yes\n", to: "endless", permissions: 0o700))",
                "command:\(try scenario.write("A.B.C", to: "plain"))", "command:\(scenario.absentPath)",
            ]
            for source in sources {
                let told = await scenario.refusal(scenario.request(assertion: source))
                #expect([.invalidRequest, .unavailable].contains(told?.code) && told?.hint != nil, "\(source)")
                #expect(told?.message.contains("A.B.C") == false)
            }
            let unknown = await scenario.refusal(scenario.request(assertion: "carrier-pigeon"))
            #expect(unknown?.code == .unsupported && unknown?.hint?.contains("github-actions") == true)
            #expect(scenario.visits.isEmpty)
        }
    }

    @Test func `a command that hangs is ended with all that it started`() async throws {
        try await ApplicationScenario.with { scenario in
            let script = "#!/bin/sh\nsleep 60 &\nsleep 60\n"
            let command = AssertionCommand(
                path: try scenario.write(script, to: "hanging", permissions: 0o700), patience: .milliseconds(500))
            let start = ContinuousClock.now
            let told = await #expect(throws: PluginError.self) { _ = try await command.output(atMost: 100) }
            #expect(told?.code == .unavailable && ContinuousClock.now - start < .seconds(10))
        }
    }

    @Test(arguments: [
        ("gitlab", "AZURE_ID_TOKEN"), ("hcp-terraform", "TFC_WORKLOAD_IDENTITY_TOKEN"), ("variable:OWN", "OWN"),
    ])
    func `a job's variable holds the assertion`(_ source: String, _ name: String) async throws {
        try await ApplicationScenario.with { scenario in
            _ = try await scenario.authenticate(scenario.request(assertion: source, [name: "A.B.C"]))
            #expect(scenario.tokenVisits.last?.form["client_assertion"] == "A.B.C")
            let told = await scenario.refusal(scenario.request(assertion: source, [name: ""]))
            #expect(told?.code == .unavailable && told?.message.contains(name) == true)
        }
    }

    @Test(arguments: [
        ("https://login.microsoftonline.com/t", "api://AzureADTokenExchange"),
        ("https://login.microsoftonline.us/t", "api://AzureADTokenExchangeUSGov"),
        ("https://login.usgovcloudapi.net/t", "api://AzureADTokenExchangeUSGov"),
        ("https://login.contoso.us/t", "api://AzureADTokenExchange"),
        ("https://login.partner.microsoftonline.cn/t", "api://AzureADTokenExchangeChina"),
    ])
    func `each cloud has its audience`(_ authority: String, _ audience: String) throws {
        #expect(ApplicationToken.audience(of: authority) == audience)
        var identity = PluginIdentity(.client)
        identity.assertion = "gitlab"
        let told = #expect(throws: PluginError.self) {
            try AssertionSource(identity.assertion ?? "", of: identity, audience: audience)
        }
        #expect(told?.hint?.contains("audience \(audience);") == true, "\(String(describing: told?.hint))")
    }

    // MARK: The sandbox

    /// Returns a request of the sandbox's application.
    private static func request(_ sandbox: Sandbox) -> PluginRequest {
        var request = sandbox.request(.authenticate, at: "/contoso.example")
        request.clientID = sandbox.application.clientID
        request.identity = PluginIdentity(.client)
        return request
    }

    @Test func `the sandbox takes each proof as Entra does`() async throws {
        try await Sandbox.run { sandbox in
            let application = sandbox.application
            var secret = Self.request(sandbox)
            secret.clientSecret = Secret(application.secret)
            var certificate = Self.request(sandbox)
            certificate.identity?.certificate = application.certificate
            var chain = certificate
            chain.identity?.variables = [PluginField("AZURE_CLIENT_SEND_CERTIFICATE_CHAIN", Secret("true"))]
            var job = Self.request(sandbox)
            job.identity?.assertion = "github-actions"
            job.identity?.variables = [
                PluginField("ACTIONS_ID_TOKEN_REQUEST_URL", Secret(application.requestURL)),
                PluginField("ACTIONS_ID_TOKEN_REQUEST_TOKEN", Secret(application.requestToken)),
            ]
            let host = ScriptedPerson { _ in .unsupported }
            for request in [secret, certificate, chain, certificate, job] {
                let result = try await MicrosoftPlugin.aadTenant.authenticate(request, host)
                #expect(result.realm == Sandbox.contoso && result.account == nil && result.refreshToken == nil)
                #expect(result.accessToken.unverifiedClaims?["idtyp"] == "app")
            }
            secret.clientSecret = Secret("wrong")
            let told = await #expect(throws: PluginError.self) {
                try await MicrosoftPlugin.aadTenant.authenticate(secret, host)
            }
            #expect(told?.errorCodes == ["AADSTS7000215"] && told?.hint?.contains("not its ID") == true)
        }
    }
}
