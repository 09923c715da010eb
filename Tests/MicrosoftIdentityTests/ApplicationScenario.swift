import AuthorityFixture
import Foundation
import JSON
import PluginWire
import Secrets
import Synchronization
import Testing
import X509

@testable import MicrosoftIdentity
@testable import OAuth

/// An application's token request to a server that is both its authority and its source of assertions.
///
/// The server answers according to a script and records the requests.
final class ApplicationScenario: Sendable {
    /// A received request.
    struct Visit: Sendable {
        let method: String
        let path: String
        let query: [String: String]
        let headers: [String: String]
        let body: String

        var form: [String: String] { FormEncoding.decode(body[...]) }

        init(_ text: String) {
            let parts = text.components(separatedBy: "\r\n\r\n")
            let lines = parts[0].components(separatedBy: "\r\n")
            let target = lines[0].split(separator: " ")[1].split(separator: "?", maxSplits: 1)
            method = String(lines[0].prefix { $0 != " " })
            path = String(target[0])
            query = FormEncoding.decode(target.count > 1 ? target[1] : "")
            let fields = lines.dropFirst().map { $0.split(separator: ":", maxSplits: 1) }
            headers = Dictionary(
                fields.map { ($0[0].lowercased(), $0[1].trimmingCharacters(in: .whitespaces)) },
                uniquingKeysWith: { $1 })
            body = parts.dropFirst().joined(separator: "\r\n\r\n")
        }
    }

    /// A scripted answer.
    struct Reply: Sendable {
        var status = 200
        var body: String
    }

    static let tenant = "c0a70500-0000-4000-8000-00000c0a7050"
    static let tokens = #"{"token_type":"Bearer","expires_in":3599,"ext_expires_in":3599,"access_token":"AT"}"#

    private static let client: MicrosoftPlugin = {
        var limits = Transport.Limits()
        limits.pause = .milliseconds(20)
        return MicrosoftPlugin(
            AuthorityProfile(name: "aad-tenant", kind: .aad, identities: true), environment: [:], limits: limits)
    }()

    /// The answers to token requests, one after another; the last is repeated.
    let tokenReplies: Mutex<[Reply]>
    /// The answer to requests for assertions.
    let assertionReply: Reply
    private let server: TLSServer
    private let folder: String

    private init(_ server: TLSServer, _ tokenReplies: [Reply], _ assertionReply: Reply, folder: String) {
        self.server = server
        self.tokenReplies = Mutex(tokenReplies)
        self.assertionReply = assertionReply
        self.folder = folder
    }

    /// Runs the body with a server with these answers.
    static func with(
        tokens: [Reply] = [Reply(body: tokens)],
        assertion: Reply = Reply(body: #"{"value":"A.B.C","oidcToken":"A.B.C","count":1}"#),
        _ body: (ApplicationScenario) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "application-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let current = Mutex<ApplicationScenario?>(nil)
        try await TLSServer.run(
            .init(.dnsName("localhost")),
            { text in current.withLock { $0 }?.answer(Visit(text)) ?? TLSServer.nothingHere },
            { server in
                let scenario = ApplicationScenario(server, tokens, assertion, folder: folder.path)
                current.withLock { $0 = scenario }
                try await body(scenario)
            })
    }

    private func answer(_ visit: Visit) -> TLSServer.Behaviour {
        let base = visit.path.components(separatedBy: "/v2.0/.well-known/")
        if base.count == 2 {
            let authority = authority + base[0]
            return Self.answer(
                Reply(
                    body: JSONValue.object([
                        "issuer": .string("\(self.authority)/\(Self.tenant)/v2.0"),
                        "authorization_endpoint": .string("\(authority)/oauth2/v2.0/authorize"),
                        "token_endpoint": .string("\(authority)/oauth2/v2.0/token"),
                    ]).encodedText))
        }
        if !visit.path.hasSuffix("/oauth2/v2.0/token") { return Self.answer(assertionReply) }
        return Self.answer(tokenReplies.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] })
    }

    private static func answer(_ reply: Reply) -> TLSServer.Behaviour {
        .answer(
            "HTTP/1.1 \(reply.status) X\r\ncontent-type: application/json\r\nlocation: https://evil.example/\r\n"
                + "content-length: \(reply.body.utf8.count)\r\n\r\n\(reply.body)")
    }

    /// The server's URL.
    var authority: String { "https://localhost:\(server.port)" }
    /// The received requests, in order.
    var visits: [Visit] { server.requests.map(Visit.init) }
    /// The received token requests.
    var tokenVisits: [Visit] { visits.filter { $0.path.hasSuffix("/oauth2/v2.0/token") } }

    /// Writes a file and returns its path.
    func write(_ text: String, to name: String, permissions: Int = 0o600) throws -> String {
        let path = "\(folder)/\(name)"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
        return path
    }

    /// A path without a file.
    var absentPath: String { "\(folder)/absent" }

    /// Returns a request of an application with a secret, for one resource.
    func request(secret: String? = "the-secret", tenant: String = tenant) -> PluginRequest {
        var request = PluginRequest(.authenticate)
        request.authority = "\(authority)/\(tenant)"
        request.clientID = "cid"
        request.scopes = ["https://vault.azure.net/.default"]
        request.network.caFiles = [server.caFile]
        request.knownHosts = ["localhost"]
        request.identity = PluginIdentity(.client)
        request.clientSecret = secret.map { Secret($0) }
        return request
    }

    /// Returns a request of an application with a federated assertion.
    func request(assertion: String, _ variables: [String: String] = [:], tenant: String = tenant) -> PluginRequest {
        var request = request(secret: nil, tenant: tenant)
        request.identity?.assertion = assertion
        request.identity?.variables = variables.map { PluginField($0.key, Secret($0.value)) }
        return request
    }

    /// Gets the token.
    func authenticate(_ request: PluginRequest) async throws(PluginError) -> PluginResult {
        try await Self.client.authenticate(request, ScriptedPerson { _ in .unsupported })
    }

    /// Returns why there is no token; nil if there is one.
    func refusal(_ request: PluginRequest) async -> PluginError? {
        do throws(PluginError) {
            _ = try await authenticate(request)
            return nil
        } catch {
            return error
        }
    }
}
