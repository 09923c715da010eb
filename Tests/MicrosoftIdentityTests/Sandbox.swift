import Foundation
import HTTP
import PluginKit
import PluginWire
import Secrets
import Subprocess
import SystemPackage
import TestSupport

@testable import MicrosoftIdentity
@testable import OAuth

/// A running `lanyard-sandbox`: a real authority over TLS, and its scripted browser.
struct Sandbox: Sendable {
    /// A request in the sandbox's log.
    struct Visit: Decodable, Sendable {
        var method: String
        var path: String
        var query: [String: String]?
        var status: Int
        var grant_type: String?
        var form: [String: String]?
    }

    static let contoso = "c0a70500-0000-4000-8000-00000c0a7050"
    static let fabrikam = "fab81ca0-0000-4000-8000-0000fab81ca0"
    static let alice = "a11ce000-0000-4000-8000-00000000c0a7.\(contoso)"
    static let declining = "dec11e00-0000-4000-8000-0000000000c3"
    static let withoutDeviceCode = "ca000000-0000-4000-8000-0000000000d4"

    private let description: SandboxDescription
    private let control: HTTPClient

    private static let products = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path
    private static var program: Executable { .path(FilePath("\(products)/lanyard-sandbox")) }
    /// The executable of the built plugins.
    static var plugins: Executable { .path(FilePath("\(products)/lanyard-authority")) }

    /// Starts a sandbox, runs the body and stops it.
    static func run(_ body: @escaping @Sendable (Sandbox) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "identity-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await SandboxPool.with(folder: directory) { description in
            let sandbox = try Sandbox(description)
            try await body(sandbox)
        }
    }

    private init(_ description: SandboxDescription) throws {
        self.description = description
        var limits = HTTPClient.Limits()
        limits.body = 1 << 24
        var network = NetworkSettings(environment: [:])
        network.caFiles = [description.caFile]
        control = try HTTPClient(userAgent: "tests", network, limits: limits)
    }

    var authority: String { description.authority }
    var caFile: String { description.caFile }
    var b2cClient: String { description.b2cClientID }
    var application: SandboxDescription.Application { description.application }

    /// The sandbox's host and port.
    var environment: String { String(authority.dropFirst("https://".count)) }

    /// Returns a request to the authority at the path.
    func request(
        _ operation: PluginRequest.Operation, at path: String, flows: [PluginRequest.Flow] = [.browser]
    ) -> PluginRequest {
        var request = PluginRequest(operation)
        request.authority = authority + path
        request.clientID = description.clientID
        request.scopes = ["api://sandbox-git/.default"]
        request.flows = flows
        request.network.caFiles = [caFile]
        request.knownHosts = [environment]
        return request
    }

    /// Opens a page in the scripted browser; returns its exit status.
    @discardableResult
    func browse(_ url: String, as username: String, _ further: [String] = []) async throws -> Bool {
        let arguments = ["sign-in", url, "--as", username, "--ca", caFile] + further
        let result = try await Subprocess.run(
            Self.program, arguments: Arguments(arguments), output: .discarded, error: .discarded)
        return result.terminationStatus.isSuccess
    }

    /// Returns a user with the scripted browser.
    func user(_ username: String, _ further: [String] = []) -> ScriptedPerson {
        ScriptedPerson { event in
            switch event {
            case .openURL(let url, _):
                _ = try? await browse(url, as: username, further)
                return .done
            case .showCode(let code, let page, _, _, _):
                _ = try? await browse(page, as: username, ["--code", code] + further)
                return .done
            case .openWindow, .prompt, .progress: return .unsupported
            }
        }
    }

    /// Plans a fault.
    func plan(_ fault: String) async throws { try await command("POST", "faults", fault) }

    /// Revokes a user's refresh tokens and sessions.
    func revoke(_ username: String) async throws {
        try await command("POST", "revoke", #"{"username":"\#(username)"}"#)
    }

    /// Changes the sandbox's settings.
    func set(_ settings: String) async throws { try await command("POST", "settings", settings) }

    /// Returns the requests so far.
    func log() async throws -> [Visit] {
        try JSONDecoder().decode([Visit].self, from: Data(try await command("GET", "log", "")))
    }

    @discardableResult
    private func command(_ method: String, _ path: String, _ body: String) async throws -> [UInt8] {
        let request = HTTPRequest(
            method, "\(authority)/_sandbox/\(path)", headers: [("x-sandbox-control", Secret(description.controlToken))],
            body: body.isEmpty ? nil : Array(body.utf8))
        let answer = try await control.send(request, within: .seconds(10))
        guard answer.status < 300 else { throw SandboxRefusal(status: answer.status) }
        return answer.body
    }
}

/// The sandbox's control API refused a test's request.
struct SandboxRefusal: Error {
    var status: Int
}

/// A user who follows a script.
final class ScriptedPerson: Conversation {
    private let script: @Sendable (PluginEvent) async -> PluginReply
    private let told: @Sendable (String) -> Void

    init(
        _ script: @escaping @Sendable (PluginEvent) async -> PluginReply,
        told: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.script = script
        self.told = told
    }

    func ask(_ event: PluginEvent) async -> PluginReply { await script(event) }
    func progress(_ message: String) async { told(message) }
}
