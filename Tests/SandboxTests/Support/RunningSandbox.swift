import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import Subprocess
import SystemPackage
import TestSupport
import Testing

/// A sandbox for one test: the built program, over real HTTPS.
struct RunningSandbox: Sendable {
    struct Answer: Sendable {
        var status: Int
        var fields: HTTPHeaders
        var body: String

        subscript(member: String) -> Any? { json[member] }
        func headers(_ name: String) -> [String] { fields[name] }
        func text(_ member: String) -> String? { json[member] as? String }
        /// The fields of a form-encoded answer.
        var form: [String: String] { SandboxTests.fields(of: body) }
        var json: [String: Any] { parse(body) }
    }

    let directory: String
    let description: SandboxDescription
    let http: HTTPClient

    var authority: String { description.authority }
    var resource: String { description.resource }
    var clientID: String { description.clientID }
    var b2cClientID: String { description.b2cClientID }

    func get(_ url: String, headers: [String: String] = [:]) async throws -> Answer {
        try await send(url, method: .GET, headers: headers, body: nil)
    }

    func post(_ url: String, _ form: [String: String], headers: [String: String] = [:]) async throws -> Answer {
        let body = form.map { "\(percentEncoded($0.key))=\(percentEncoded($0.value))" }.joined(separator: "&")
        let type = ["Content-Type": "application/x-www-form-urlencoded"]
        return try await send(url, method: .POST, headers: type.merging(headers) { $1 }, body: body)
    }

    func send(json: String, to url: String, method: HTTPMethod = .POST, headers: [String: String] = [:])
        async throws -> Answer
    {
        let type = ["Content-Type": "application/json"]
        return try await send(url, method: method, headers: type.merging(headers) { $1 }, body: json)
    }

    /// Calls the control API.
    @discardableResult
    func control(_ method: String, _ path: String, _ body: String? = nil) async throws -> Answer {
        try await send(
            "\(authority)/_sandbox/\(path)", method: HTTPMethod(rawValue: method),
            headers: ["X-Sandbox-Control": description.controlToken], body: body)
    }

    func send(
        _ url: String, method: HTTPMethod, headers: [String: String] = [:], body: String? = nil
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = method
        request.headers = HTTPHeaders(headers.map { ($0.key, $0.value) })
        request.body = body.map { .bytes(ByteBuffer(string: $0)) }
        let response = try await http.execute(request, timeout: .seconds(20))
        let bytes = try await response.body.collect(upTo: 4 * 1024 * 1024)
        return Answer(status: Int(response.status.code), fields: response.headers, body: String(buffer: bytes))
    }
}

/// Runs a test with a sandbox.
func withSandbox(
    users: String? = nil, _ test: @escaping @Sendable (RunningSandbox) async throws -> Void
) async throws {
    let directory = FileManager.default.temporaryDirectory.path + "/sandbox-test-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: directory) }
    if let users {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try users.write(toFile: directory + "/users.toml", atomically: true, encoding: .utf8)
    }
    try await SandboxPool.with(folder: directory) { try await use($0, at: directory, test) }
}

private func use(
    _ description: SandboxDescription, at directory: String, _ test: (RunningSandbox) async throws -> Void
) async throws {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.trustRoots = .file(description.caFile)
    let http = HTTPClient(
        eventLoopGroupProvider: .singleton,
        configuration: .init(tlsConfiguration: tls, redirectConfiguration: .disallow))
    do {
        try await test(RunningSandbox(directory: directory, description: description, http: http))
    } catch {
        try? await http.shutdown()
        throw error
    }
    try await http.shutdown()
}

/// The tested programs, and git.
enum Program {
    /// The path of the built `lanyard-sandbox`, next to the test bundle.
    static let path: String = {
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return own.prefix(upTo: own.lastIndex(of: "/") ?? own.startIndex) + "/lanyard-sandbox"
    }()

    struct Outcome: Sendable {
        var succeeded: Bool
        var output: String
        var error: String
    }

    /// Runs `lanyard-sandbox` as a user of this sandbox would.
    static func sandbox(_ arguments: [String], in sandbox: RunningSandbox? = nil) async throws -> Outcome {
        try await run(
            .path(FilePath(path)), arguments, environment: ["LANYARD_SANDBOX_DIR": sandbox?.directory])
    }

    /// Runs a sandbox in a separate process, which SIGTERM ends; returns its termination status.
    static func serve(in directory: String, _ body: (String) async throws -> Void) async throws -> TerminationStatus {
        try await Subprocess.run(
            .path(FilePath(path)), arguments: ["serve", "--directory", directory], input: .none, output: .discarded,
            error: .discarded
        ) { execution in
            do {
                try await body(try await SandboxDescription(at: directory).authority)
            } catch {
                try? execution.send(signal: .terminate)
                throw error
            }
            try execution.send(signal: .terminate)
        }.terminationStatus
    }

    private static func run(
        _ executable: Executable, _ arguments: [String], environment: [Subprocess.Environment.Key: String?] = [:]
    ) async throws -> Outcome {
        let result = try await Subprocess.run(
            executable, arguments: Arguments(arguments), environment: .inherit.updating(environment), input: .none,
            output: .string(limit: 1024 * 1024), error: .string(limit: 1024 * 1024))
        return Outcome(
            succeeded: result.terminationStatus.isSuccess, output: result.standardOutput, error: result.standardError)
    }

    /// Runs git without this computer's configuration.
    static func git(_ arguments: [String], sandbox: RunningSandbox, token: String? = nil) async throws -> Outcome {
        var options = ["-c", "http.sslCAInfo=\(sandbox.description.caFile)", "-c", "credential.helper="]
        if let token { options += ["-c", "http.extraHeader=Authorization: \(token)"] }
        return try await run(
            .name("git"), options + arguments,
            environment: [
                "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0",
                "GIT_SSL_CAINFO": nil, "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@contoso.example",
                "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@contoso.example",
            ])
    }
}
