import Foundation
import HTTP
import JSON
import ManagedIdentity
import PluginWire
import Secrets
import Synchronization

@testable import OAuth

/// A platform with scripted answers, of which the last is repeated, and a clock that only pauses advance.
final class ScriptedPlatform: Sendable {
    /// The reply to a request.
    typealias Reply = Result<HTTPAnswer, HTTPError>

    private struct State {
        var replies: [Reply]
        var requests: [PlatformRequest] = []
        var pauses: [Duration] = []
        var progress: [String] = []
    }

    private let state: Mutex<State>

    init(_ replies: [Reply]) {
        state = Mutex(State(replies: replies))
    }

    var requests: [PlatformRequest] { state.withLock { $0.requests } }
    /// The length of each pause in seconds.
    var pauses: [Int] { state.withLock { $0.pauses.map { Int($0.components.seconds) } } }
    var progress: [String] { state.withLock { $0.progress } }

    var pace: Pace {
        Pace(
            elapsed: { self.state.withLock { $0.pauses.reduce(.zero, +) } },
            wait: { pause in self.state.withLock { $0.pauses.append(pause) } })
    }

    /// Requests a token.
    func token(
        _ demand: Demand, from source: any TokenSource, now: Int = 1_700_000_000, limits: Pace.Limits = .init()
    ) async throws(IdentityError) -> PlatformToken {
        let run = TokenRun(
            source, pace: pace, limits: limits,
            progress: { text in self.state.withLock { $0.progress.append(text) } },
            send: { request, _ throws(HTTPError) in try self.next(request).get() })
        return try await run.token(demand, now: { now })
    }

    private func next(_ request: PlatformRequest) -> Reply {
        state.withLock { state in
            state.requests.append(request)
            return state.replies.count > 1 ? state.replies.removeFirst() : state.replies[0]
        }
    }
}

extension HTTPAnswer {
    static func scripted(_ status: Int, _ body: JSONValue = .null, headers: [String: String] = [:]) -> HTTPAnswer {
        let bytes =
            switch body {
            case .null: [UInt8]()
            case .string(let text): Array(text.utf8)
            default: body.encoded()
            }
        return HTTPAnswer(
            status: status, headers: headers.map { .init(name: $0.key.lowercased(), value: $0.value) }, body: bytes)
    }
}

extension MachineSurroundings {
    /// Creates surroundings from plain variables.
    init(_ variables: [String: String], root: String = "/nowhere") {
        self.init(variables.map { PluginField($0.key, Secret($0.value)) }, root: root)
    }

    /// Returns surroundings in which a platform is detected.
    static func of(_ platform: Platform, root: String = "/nowhere") -> MachineSurroundings {
        let variables: [String: String] =
            switch platform {
            case .imds: [:]
            case .appService: ["IDENTITY_ENDPOINT": "http://127.0.0.1:1/token", "IDENTITY_HEADER": "a-header"]
            case .azureML: ["MSI_ENDPOINT": "http://127.0.0.1:1/ml", "MSI_SECRET": "a-secret"]
            case .cloudShell: ["MSI_ENDPOINT": "http://127.0.0.1:1/token"]
            case .serviceFabric:
                [
                    "IDENTITY_ENDPOINT": "https://localhost:1/token", "IDENTITY_HEADER": "a-header",
                    "IDENTITY_SERVER_THUMBPRINT": String(repeating: "ab", count: 20),
                ]
            case .arc:
                [
                    "IDENTITY_ENDPOINT": "http://localhost:1/metadata/identity/oauth2/token",
                    "IMDS_ENDPOINT": "http://localhost:1",
                ]
            }
        return MachineSurroundings(variables, root: root)
    }
}

/// A folder that stands for a machine's `/`, removed after the test.
final class MachineRoot: Sendable {
    static let tokens = "/var/opt/azcmagent/tokens"
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "machine-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path + Self.tokens, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ file: String, _ text: String) throws {
        let url = URL(filePath: path + file)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    func link(_ file: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path + file, withDestinationPath: target)
    }
}
