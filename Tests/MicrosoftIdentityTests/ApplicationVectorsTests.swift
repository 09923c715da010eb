import Foundation
import JSON
import PluginWire
import Secrets
import Testing
import Vectors

@testable import MicrosoftIdentity
@testable import OAuth
@testable import PluginOAuth

/// The cases in `machine.json` for applications at Entra.
struct ApplicationVectorsTests {
    private static let categories: Set = [
        "aks-proxy", "azure-pipelines", "ci-token", "client-credentials", "github-oidc", "workload-identity",
    ]

    /// The cases of those categories that no test here runs, and why.
    private static let leftOut = [
        "azure-pipelines/missing-client-id":
            "a request without a client ID is against the protocol, and no plugin sees it",
        "azure-pipelines/missing-tenant-id": "a request without an authority is, too",
        "ci-token/managed-identity-as-assertion": "it takes two plugins, and an identity has one",
        "workload-identity/missing-azure-federated-token-file": hostReads,
        "workload-identity/missing-azure-tenant-id": hostReads, "workload-identity/trailing-slash-authority": hostReads,
    ].merging(aksProxy) { $1 }

    private static let hostReads = "the host reads the variables that describe an identity: EnvironmentVectorsTests"
    /// AKS's identity binding is only for pods that opt in, and none needs it: Entra accepts the token in a pod's file
    /// from every client.
    private static let aksProxy = Dictionary(
        uniqueKeysWithValues: MachineVectors.followed.filter { $0.category == "aks-proxy" }.map {
            ($0.id, "the variables of AKS's identity binding aren't read")
        })

    private static let cases = MachineVectors.followed.filter {
        categories.contains($0.category) && leftOut[$0.id] == nil
    }

    @Test func `the file and the table fit together`() {
        #expect(Set(Self.leftOut.keys).isSubset(of: MachineVectors.followed.map(\.id)))
        #expect(Self.cases.count == 41)
    }

    @Test(arguments: cases)
    func `an application`(_ vector: VectorCase) async throws {
        try await ApplicationScenario.with(
            tokens: [Self.reply(vector, to: "client-credentials") ?? .init(body: ApplicationScenario.tokens)],
            assertion: Self.reply(vector, to: "github-oidc", "azure-pipelines")
                ?? .init(body: #"{"value":"A.B.C","oidcToken":"A.B.C"}"#)
        ) { scenario in
            let requests = try Self.requests(vector, scenario)
            var results: [PluginResult] = []
            var failure: PluginError?
            for make in requests {
                do throws(PluginError) {
                    results.append(try await scenario.authenticate(make()))
                } catch {
                    failure = error
                }
            }
            #expect((failure == nil) == (vector.expected("error") == nil), "\(String(describing: failure))")
            if let failure { Self.check(failure, vector, scenario) }
            for (name, value) in vector.expect { try Self.check(name, value, vector, scenario, results) }
        }
    }

    private static func reply(_ vector: VectorCase, to categories: String...) -> ApplicationScenario.Reply? {
        guard categories.contains(vector.category) else { return nil }
        if let reply = vector.input["reply"] { return .init(body: reply.encodedText) }
        guard let status = vector.input["status"]?.wholeNumber else { return nil }
        let body = vector.input["body"]
        return .init(status: status, body: body?.string ?? body?.encodedText ?? "")
    }

    // MARK: What goes in

    private static func requests(
        _ vector: VectorCase, _ scenario: ApplicationScenario
    ) throws -> [() -> PluginRequest] {
        let count = vector.input["token_requests"]?.wholeNumber ?? 1
        if vector.category == "client-credentials" {
            let request = try clientCredentials(vector, scenario)
            return Array(repeating: { request }, count: count)
        }
        if case let versions = vector.texts("file_versions"), !versions.isEmpty {
            return versions.map { text in
                {
                    let path = try? scenario.write(text, to: "token")
                    return scenario.request(assertion: "file:\(path ?? "")")
                }
            }
        }
        // The case whose URL isn't https, so no request is sent.
        if vector.expect["url"] != nil { return [] }
        let request = try federated(vector, scenario)
        return [{ request }]
    }

    private static func clientCredentials(
        _ vector: VectorCase, _ scenario: ApplicationScenario
    ) throws -> PluginRequest {
        let tenant = vector.text("tenant") ?? ApplicationScenario.tenant
        var request = scenario.request(secret: vector.text("secret") ?? "the-secret", tenant: tenant)
        if vector.text("assertion") != nil || vector.input["status"] != nil {
            request = scenario.request(
                assertion: "variable:ASSERTION", ["ASSERTION": vector.text("assertion") ?? "A.B.C"], tenant: tenant)
        }
        if vector.text("assertion_source") == "callback" {
            let script = "#!/bin/sh\necho read >>'\(scenario.absentPath)'\necho A.B.C\n"
            request = scenario.request(
                assertion: "command:\(try scenario.write(script, to: "source", permissions: 0o700))")
        }
        let scopes = vector.texts("scopes")
        if !scopes.isEmpty { request.scopes = scopes }
        if !vector.texts("capabilities").isEmpty { request.capabilities = [.claimsChallenge] }
        return request
    }

    private static func federated(
        _ vector: VectorCase, _ scenario: ApplicationScenario
    ) throws -> PluginRequest {
        let isGitHub = vector.category == "github-oidc"
        let given = vector.input["env"]?.members?.compactMapValues(\.string)
        let usual = [
            "ACTIONS_ID_TOKEN_REQUEST_URL": "https://run.example/idtoken?api-version=2.0",
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "RT", "SYSTEM_OIDCREQUESTURI": "https://dev.example/oidctoken",
            "SYSTEM_ACCESSTOKEN": "ST", "AZURESUBSCRIPTION_SERVICE_CONNECTION_ID": "connection-id",
        ]
        var variables = (given ?? usual).mapValues { text in
            text.replacing(/https?:\/\/(run|dev)\.example/) { _ in scenario.authority }
        }
        switch vector.text("missing") {
        case "service_connection_id": variables["AZURESUBSCRIPTION_SERVICE_CONNECTION_ID"] = nil
        case "system_access_token": variables["SYSTEM_ACCESSTOKEN"] = nil
        default: break
        }
        if vector.category == "azure-pipelines", given?.isEmpty == false, variables["SYSTEM_ACCESSTOKEN"] == nil {
            variables["SYSTEM_ACCESSTOKEN"] = "ST"
        }
        if vector.category == "azure-pipelines" {
            let id =
                vector.text("service_connection").map { ":\($0)" }
                ?? (vector.text("missing") == nil ? ":connection-id" : "")
            return scenario.request(assertion: "azure-pipelines\(id)", variables)
        }
        if isGitHub { return scenario.request(assertion: "github-actions", variables) }
        if let name = vector.text("token_variable") {
            return scenario.request(assertion: "variable:\(name)", variables)
        }
        guard let text = vector.text("file") else {
            return scenario.request(assertion: "file:\(scenario.absentPath)")
        }
        let path = try scenario.write(text, to: "token")
        return scenario.request(
            assertion: "file:\(vector.text("gcm_assertion") == nil ? "" : "//")\(path)",
            tenant: given?["AZURE_TENANT_ID"] ?? ApplicationScenario.tenant)
    }

    // MARK: What comes out

    private static let codes: [String: PluginError.Code] = [
        "unavailable": .unavailable, "invalid-request": .invalidRequest, "authentication-failed": .invalidRequest,
        "invalid-response": .internal, "invalid_client": .invalidRequest, "unauthorized_client": .invalidRequest,
    ]

    private static func check(_ error: PluginError, _ vector: VectorCase, _ scenario: ApplicationScenario) {
        #expect(error.code == vector.expected("error").flatMap { codes[$0] }, "\(error)")
        // The error for an invalid URL is its own hint.
        #expect(error.hint != nil || error.message.hasSuffix("is not a plain https URL"), "\(error)")
        #expect(!error.message.contains("A.B.C") && !error.message.contains("the-secret"))
        for name in vector.expectedTexts("names") {
            #expect(plain(error.message).contains(plain(name)), "\(error)")
        }
        if let hint = vector.expected("hint") { #expect(error.hint?.contains(hint) == true, "\(error)") }
        if let number = vector.expect["aadsts"]?.wholeNumber {
            #expect(error.errorCodes == ["AADSTS\(number)"] && error.error == vector.expected("error"))
        }
        if vector.expect["names_path"] == .bool(true) { #expect(error.message.contains(scenario.absentPath)) }
        if vector.expect["body_in_message"] == .bool(false) { #expect(!error.message.contains("other")) }
    }

    /// Returns a normalised name: variables and the parameters of libraries spell it differently.
    private static func plain(_ name: String) -> String { name.lowercased().replacing("_", with: "") }

    private static func check(
        _ name: String, _ value: JSONValue, _ vector: VectorCase, _ scenario: ApplicationScenario,
        _ results: [PluginResult]
    ) throws {
        switch name {
        case "request" where vector.category == "github-oidc" || vector.category == "azure-pipelines":
            try checkService(value, scenario)
        case "request": try checkToken(value, scenario)
        case "requests": #expect(scenario.visits.count == value.wholeNumber)
        case "retry": #expect(scenario.tokenVisits.count == (value == .bool(true) ? 2 : 1))
        case "assertion", "client_assertion":
            #expect(scenario.tokenVisits.last?.form["client_assertion"] == value.string)
        case "client_assertions":
            #expect(scenario.tokenVisits.map { $0.form["client_assertion"] } == value.elements.map(\.string))
        case "assertion_reads":
            let reads = try String(contentsOfFile: scenario.absentPath, encoding: .utf8).split(separator: "\n").count
            #expect(reads == value.wholeNumber)
        case "form_claims_json":
            let claims = scenario.tokenVisits.last?.form["claims"].flatMap { JSONValue(bytes: $0.utf8) }
            #expect(claims == value)
        case "url":
            let address = try #require(vector.input["env"]?["ACTIONS_ID_TOKEN_REQUEST_URL"]?.string)
            #expect(address.asking(for: vector.text("audience") ?? "") == value.string)
        case "url_path": #expect(scenario.visits.first?.path == value.string)
        case "result": #expect(results.first?.accessToken.reveal() == "AT")
        case "refresh_token": #expect(results.first != nil && results.first?.refreshToken == nil)
        case "account": #expect(results.first != nil && results.first?.account == nil)
        case "valid": #expect(results.count == 1)
        case "interaction_required", "error", "names", "names_path", "hint", "aadsts", "body_in_message": break
        default: Issue.record("nothing looks at \(name)")
        }
    }

    private static func checkToken(_ expected: JSONValue, _ scenario: ApplicationScenario) throws {
        let visit = try #require(scenario.tokenVisits.last)
        let url = try #require(expected["url"]?.string.flatMap { URL(string: $0) })
        #expect(visit.method == expected["method"]?.string && visit.path == url.path && visit.query.isEmpty)
        #expect(visit.form == expected["form"]?.members?.compactMapValues(\.string))
    }

    private static func checkService(_ expected: JSONValue, _ scenario: ApplicationScenario) throws {
        let visit = try #require(scenario.visits.first)
        let url = try #require(expected["url"]?.string.flatMap { URL(string: $0) })
        #expect(visit.method == expected["method"]?.string && visit.path == url.path)
        #expect(visit.query == expected["query"]?.members?.compactMapValues(\.string))
        for (name, value) in expected["headers"]?.members ?? [:] {
            #expect(visit.headers[name.lowercased()] == value.string, "\(name)")
        }
        #expect(visit.body == expected["body"]?.string ?? "")
    }
}
