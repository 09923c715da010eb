import Foundation
import SandboxFixture

/// A running sandbox and its control interface.
final class Sandbox: Sendable {
    /// One request that it served.
    struct Request: Decodable, Sendable, CustomStringConvertible {
        let method: String
        let host: String
        let path: String
        let status: Int
        let grantType: String?
        /// How the request proved who sent it, such as `Bearer`.
        let authorization: String?
        let query: [String: String]?
        let form: [String: String]?

        var description: String { "\(method) \(host) \(path) \(grantType ?? "") \(status)" }

        enum CodingKeys: String, CodingKey {
            case method, host, path, status, query, form, authorization
            case grantType = "grant_type"
        }
    }

    let folder: String
    private let description: SandboxDescription
    private let process: Process

    /// The password of every user.
    static let password = "lanyard"

    /// Starts a sandbox in a folder and waits until it serves.
    init(folder: String) async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Built.sandbox)
        process.arguments = ["serve", "--directory", folder]
        process.environment = ["PATH": "/usr/bin:/bin", "HOME": folder]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        self.process = process
        self.folder = folder
        do {
            description = try await SandboxDescription(at: folder)
        } catch {
            process.terminate()
            throw error
        }
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    var authority: String { description.authority }
    var resource: String { description.resource }
    var caFile: String { description.caFile }
    var clientID: String { description.clientID }
    var b2cClientID: String { description.b2cClientID }

    /// `host:port` of the resources.
    var resourceHost: String { String(resource.dropFirst("https://".count)) }

    /// What was asked of the authority since the log was last cleared, less the control interface's own requests.
    func authorityRequests() async throws -> [Request] {
        try await requests().filter { $0.host == "authority" && !$0.path.hasPrefix("/_sandbox") }
    }

    func requests() async throws -> [Request] {
        try JSONDecoder().decode([Request].self, from: Data(try await control("GET", "log").utf8))
    }

    func clearLog() async throws { _ = try await control("DELETE", "log") }
    func set(_ settings: String) async throws { _ = try await control("POST", "settings", settings) }
    func fault(_ fault: String) async throws { _ = try await control("POST", "faults", fault) }
    func clearFaults() async throws { _ = try await control("DELETE", "faults") }
    func revoke(_ what: String = "{}") async throws { _ = try await control("POST", "revoke", what) }

    private func control(_ method: String, _ name: String, _ body: String? = nil) async throws -> String {
        var arguments = [
            "--silent", "--show-error", "--fail", "--max-time", "20", "--cacert", caFile, "--request", method,
            "--header", "X-Sandbox-Control: \(description.controlToken)", "\(authority)/_sandbox/\(name)",
        ]
        if let body { arguments += ["--header", "Content-Type: application/json", "--data-binary", body] }
        let ended = try await run("curl", arguments, environment: ["PATH": "/usr/bin:/bin"])
        guard ended.status == 0 else { throw SandboxError.control(ended.errors) }
        return ended.output
    }
}

enum SandboxError: Error {
    case control(String)
}

extension [Sandbox.Request] {
    /// What the sign-in pages were asked for, one by one.
    var signIns: [[String: String]] {
        filter { $0.method == "GET" && $0.path.hasSuffix("/authorize") }.map { $0.query ?? [:] }
    }

    /// The paths that refresh tokens were redeemed at.
    var renewals: [String] { filter { $0.grantType == "refresh_token" }.map(\.path) }

    /// How often a grant was asked for.
    func count(grant: String) -> Int { count { $0.grantType == grant } }
}
