import Addresses
import JSON
import OAuth
import Secrets
import Subprocess
import SystemPackage

/// Gets tokens by running lanyard once for each, so that tokens are renewed on time, however long the endpoint runs.
///
/// Requests for the same token share one process. The numbers of running processes and waiting requests are limited.
actor TokenAsker {
    private static let mostRunning = 8
    private static let mostWaiting = 256
    private static let patience = Duration.seconds(60)
    private static let longestAnswer = 1 << 20
    private static let longestComplaint = 16 << 10

    private let program: String
    private let service: any TokenService
    private var asked: [TokenQuery: Task<TokenOutcome, Never>] = [:]
    private var running = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ program: String, for service: any TokenService) {
        (self.program, self.service) = (program, service)
    }

    /// Gets a token.
    func token(_ query: TokenQuery) async -> TokenOutcome {
        if let task = asked[query] { return await task.value }
        guard waiting.count < Self.mostWaiting else { return .failed("too many requests wait already") }
        let task = Task { await self.answer(query) }
        asked[query] = task
        defer { asked[query] = nil }
        return await task.value
    }

    private func answer(_ query: TokenQuery) async -> TokenOutcome {
        await enter()
        defer { leave() }
        let (program, arguments) = (program, service.arguments(for: query))
        let outcome = try? await withDeadline(Self.patience) { try await Self.run(program, arguments) }
        return outcome ?? .failed("there was no token in time")
    }

    private func enter() async {
        guard running >= Self.mostRunning else { return running += 1 }
        // A finished request passes its place on.
        await withCheckedContinuation { waiting.append($0) }
    }

    private func leave() {
        if waiting.isEmpty { running -= 1 } else { waiting.removeFirst().resume() }
    }

    private static func run(_ program: String, _ arguments: [String]) async throws -> TokenOutcome {
        var options = PlatformOptions()
        options.createSession = true
        options.teardownSequence = [
            .gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: .milliseconds(300))
        ]
        let result = try await Subprocess.run(
            .path(FilePath(program)), arguments: Arguments(arguments), platformOptions: options, input: .none,
            output: .bytes(limit: longestAnswer), error: .string(limit: longestComplaint))
        return TokenOutcome(
            isSuccess: result.terminationStatus.isSuccess, status: result.terminationStatus,
            printed: result.standardOutput, said: result.standardError)
    }
}

extension TokenOutcome {
    /// The exit status of lanyard's commands if the user must sign in.
    private static let interactionRequired: Int32 = 2
    /// The text with which `lanyard azd` asks for a sign-in; its exit status is the same for every failure.
    private static let signIn = "azd auth login"

    init(isSuccess: Bool, status: TerminationStatus, printed: [UInt8], said: String) {
        if isSuccess, let token = JSONValue(bytes: printed) {
            self = .token(token)
            return
        }
        let lines = said.pieces(between: "\n").map { line in
            line.hasPrefix("lanyard: ") ? line.dropFirst("lanyard: ".count) : line[...]
        }
        let message = lines.isEmpty ? "there is no token" : lines.joined(separator: "; ").displayable(limit: 1000)
        let needsUser = status == .exited(Self.interactionRequired) || said.hasBytes(Self.signIn)
        self = needsUser ? .needsUser(message) : .failed(message)
    }
}
