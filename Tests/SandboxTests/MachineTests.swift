import Foundation
import TestSupport
import Testing

/// Tokens of machines in Azure, and the sandbox's refusals, which match each platform's.
@Suite struct MachineTests {
    private static let usual = [
        "imds": (["api-version": "2018-02-01"], ["Metadata": "true"]),
        "app-service": (["api-version": "2019-08-01"], [:]),
        "azure-arc": (["api-version": "2020-06-01"], ["Metadata": "true"]),
    ]

    private static func url(_ sandbox: RunningSandbox, _ platform: String) throws -> String {
        let variables = try #require(sandbox.description.machine.platforms[platform])
        return try variables["IDENTITY_ENDPOINT"]
            ?? #require(variables["AZURE_POD_IDENTITY_AUTHORITY_HOST"]) + "/metadata/identity/oauth2/token"
    }

    /// Requests a token with the test's changes; empty values are omitted.
    private static func ask(
        _ sandbox: RunningSandbox, _ platform: String, _ query: [String: String] = [:],
        _ headers: [String: String] = [:]
    ) async throws -> RunningSandbox.Answer {
        var (parameters, fields) = try #require(usual[platform])
        fields["X-IDENTITY-HEADER"] = sandbox.description.machine.platforms[platform]?["IDENTITY_HEADER"]
        parameters["resource"] = "api://sandbox-git"
        let text = parameters.merging(query) { $1 }.filter { !$0.value.isEmpty }
            .map { "\($0.key)=\(percentEncoded($0.value))" }
        return try await sandbox.get(
            url(sandbox, platform) + "?" + text.joined(separator: "&"),
            headers: fields.merging(headers) { $1 }.filter { !$0.value.isEmpty })
    }

    /// Returns the contents of the file that the agent of Azure Arc names.
    private static func key(_ sandbox: RunningSandbox, _ answer: RunningSandbox.Answer) throws -> String {
        #expect(answer.status == 401)
        let realm = try #require(answer.headers("WWW-Authenticate").first)
        let place = "Basic realm=/var/opt/azcmagent/tokens/"
        #expect(realm.hasPrefix(place) && realm.hasSuffix(".key"))
        let file = sandbox.description.machine.arcKeys + "/" + realm.dropFirst(place.count)
        let permissions = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(permissions == 0o600)
        return try String(contentsOfFile: file, encoding: .utf8)
    }

    @Test(arguments: ["imds", "app-service"])
    func `a machine gets a token that opens a repository`(_ platform: String) async throws {
        try await withSandbox { sandbox in
            let own = try await Self.ask(sandbox, platform)
            let token = own.text("access_token") ?? ""
            let claims = claims(of: token)
            #expect(
                claims["idtyp"] as? String == "app" && claims["app_displayname"] as? String == "lanyard sandbox machine"
            )
            // Every number is a string, as in Azure.
            let end = try #require(own.text("expires_on").flatMap { Int($0) })
            #expect(end == claims["exp"] as? Int && own.text("resource") == "api://sandbox-git")
            let listed = try await Program.git(
                ["ls-remote", "\(sandbox.resource)/contoso/hello.git"], sandbox: sandbox, token: "Bearer \(token)")
            #expect(listed.succeeded, "\(listed)")
            let machine = sandbox.description.machine
            for (name, id) in [
                ("client_id", machine.clientID.uppercased()), ("object_id", machine.objectID),
                (platform == "imds" ? "msi_res_id" : "mi_res_id", machine.resourceID),
            ] {
                let answer = try await Self.ask(sandbox, platform, [name: id])
                #expect(answer.text("client_id") == machine.clientID, "\(name) \(answer.body)")
            }
            let header = machine.platforms["app-service"]?["IDENTITY_HEADER"] ?? ""
            let log = try await sandbox.control("GET", "log").body
            #expect(!log.contains(header) && !log.contains(token) && log.contains("lanyard sandbox machine"))
        }
    }

    @Test func `Azure Arc's agent gives a token for what is in its file, once`() async throws {
        try await withSandbox { sandbox in
            let key = try Self.key(sandbox, try await Self.ask(sandbox, "azure-arc"))
            let proof = ["Authorization": "Basic \(key)"]
            let own = try await Self.ask(sandbox, "azure-arc", [:], proof)
            #expect(own.status == 200 && own.text("access_token") != nil && own.text("client_id") == nil, "\(own.body)")
            for wrong in [proof, ["Authorization": "Basic e30"], ["Authorization": "Bearer \(key)"]] {
                #expect(try await Self.ask(sandbox, "azure-arc", [:], wrong).status == 401)
            }
            let machine = sandbox.description.machine
            for (name, id) in [
                ("client_id", machine.clientID), ("object_id", machine.objectID), ("msi_res_id", machine.resourceID),
            ] {
                let next = try Self.key(sandbox, try await Self.ask(sandbox, "azure-arc", [name: id]))
                let answer = try await Self.ask(sandbox, "azure-arc", [name: id], ["Authorization": "Basic \(next)"])
                // The answer says whose token it is.
                #expect(answer.text(name) == id, "\(answer.body)")
            }
            // The agent doesn't know App Service's name for it.
            let other = try Self.key(
                sandbox, try await Self.ask(sandbox, "azure-arc", ["mi_res_id": machine.resourceID]))
            let answer = try await Self.ask(
                sandbox, "azure-arc", ["mi_res_id": machine.resourceID], ["Authorization": "Basic \(other)"])
            #expect(
                claims(of: answer.text("access_token") ?? "")["app_displayname"] as? String == "lanyard sandbox machine"
            )
        }
    }

    struct Refusal: CustomTestStringConvertible, Sendable {
        let platform: String
        var query: [String: String] = [:]
        var headers: [String: String] = [:]
        var status = 400
        let says: String
        var testDescription: String { "\(platform) \(query) \(headers)" }
    }

    private static let nobody = "00000000-0000-4000-8000-000000000000"
    static let refusals = [
        Refusal(platform: "imds", headers: ["Metadata": ""], says: #""error":"bad_request_102""#),
        Refusal(platform: "imds", headers: ["Metadata": "yes"], says: #""error":"bad_request_102""#),
        Refusal(platform: "imds", headers: ["X-Forwarded-For": "10.0.0.1"], says: "X-Forwarded-For"),
        Refusal(platform: "imds", query: ["api-version": ""], says: #""newest-versions":["#),
        Refusal(platform: "imds", query: ["api-version": "2017-01-01"], says: #""newest-versions":["#),
        Refusal(platform: "imds", query: ["resource": ""], says: "Required audience parameter not specified"),
        Refusal(platform: "imds", query: ["resource": "https://nothing.example"], says: "AADSTS500011"),
        Refusal(platform: "imds", query: ["client_id": nobody], says: #""error_description":"Identity not found""#),
        Refusal(platform: "imds", query: ["object_id": nobody], says: "Identity not found"),
        Refusal(platform: "imds", query: ["msi_res_id": "/subscriptions/none"], says: "Identity not found"),
        Refusal(platform: "imds", query: ["client_id": nobody, "object_id": nobody], says: "invalid_request"),
        Refusal(platform: "app-service", headers: ["X-IDENTITY-HEADER": ""], status: 401, says: #""statusCode":401"#),
        Refusal(platform: "app-service", headers: ["X-IDENTITY-HEADER": "x"], status: 401, says: #""statusCode":401"#),
        Refusal(platform: "app-service", query: ["api-version": ""], says: "api-version"),
        Refusal(platform: "app-service", query: ["resource": ""], says: "resource"),
        Refusal(
            platform: "app-service", query: ["client_id": nobody], says: "Unable to load the proper Managed Identity."),
        Refusal(
            platform: "app-service", query: ["mi_res_id": "/none"], says: "Unable to load the proper Managed Identity."),
        Refusal(
            platform: "app-service", query: ["resource": "https://nothing.example"], status: 500,
            says: "An unexpected error occured while fetching the AAD Token."),
        Refusal(platform: "azure-arc", headers: ["Metadata": ""], says: "Required metadata header not specified"),
        Refusal(platform: "azure-arc", query: ["api-version": "1"], says: "api-version"),
        Refusal(platform: "azure-arc", query: ["resource": ""], says: "Required audience parameter not specified"),
        Refusal(platform: "azure-arc", query: ["client_id": nobody], status: 404, says: "identity_not_found"),
    ]

    @Test func `a request that the platform refuses is refused in its words`() async throws {
        try await withSandbox { sandbox in
            for refusal in Self.refusals {
                let answer = try await Self.ask(sandbox, refusal.platform, refusal.query, refusal.headers)
                #expect(
                    answer.status == refusal.status && answer.body.contains(refusal.says)
                        && answer.text("access_token") == nil,
                    "\(refusal.testDescription) \(answer.status) \(answer.body)")
            }
            let base = try #require(sandbox.description.machine.platforms["imds"]?.values.first)
            let other = try await sandbox.get("\(base)/metadata/identity/other", headers: ["Metadata": "true"])
            #expect(other.status == 401 && other.text("error") == "unknown_source")
            #expect(try await sandbox.get(base).status == 404)
        }
    }

    @Test func `the metadata service is made to fail`() async throws {
        try await withSandbox { sandbox in
            for status in [404, 410, 429, 500] {
                try await sandbox.control("POST", "faults", #"{"path":"/metadata/","status":\#(status),"times":1}"#)
                #expect(try await Self.ask(sandbox, "imds").status == status)
                #expect(try await Self.ask(sandbox, "imds").status == 200)
            }
        }
    }
}
