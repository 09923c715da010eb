import CredentialProtocol
import Subprocess
import SystemPackage

/// git's configuration, read and written by git itself.
struct GitConfiguration: Sendable {
    /// Whose file.
    enum Scope: String, Sendable {
        case global = "--global"
        case system = "--system"
    }

    let scope: Scope

    /// Every value of a key, in order; empty where it has none.
    func values(_ key: String) async throws(Failure) -> [String] {
        let result = try await git(["config", scope.rawValue, "--null", "--get-all", key])
        guard result.status == 0 else {
            guard result.status == 1 else { throw result.failure(doing: "reading \(key)") }
            return []
        }
        return result.output.split(separator: "\0").map(String.init)
    }

    /// Adds a value to a key that may have others.
    func add(_ key: String, _ value: String) async throws(Failure) {
        let result = try await git(["config", scope.rawValue, "--add", key, value])
        guard result.status == 0 else { throw result.failure(doing: "writing \(key)") }
    }

    /// Sets a key to one value.
    func set(_ key: String, _ value: String) async throws(Failure) {
        let result = try await git(["config", scope.rawValue, key, value])
        guard result.status == 0 else { throw result.failure(doing: "writing \(key)") }
    }

    /// Whether git's `credential.interactive` forbids prompts for a URL.
    static func forbidsPrompts(for url: String) async -> Bool {
        let ask = ["config", "--get-urlmatch", "credential.interactive", url]
        guard let result = try? await run(ask), result.status == 0 else { return false }
        return ["false", "never", "0", "no", "off"].contains(result.output.filter { !$0.isNewline }.lowercased())
    }

    private func git(_ arguments: [String]) async throws(Failure) -> Output {
        try await Self.run(arguments)
    }

    private struct Output {
        let status: Int32
        let output: String
        let errors: String

        func failure(doing what: String) -> Failure {
            let said = errors.split(separator: "\n").last.map(String.init) ?? "exit status \(status)"
            return Failure("git failed while \(what): \(said.displayable())")
        }
    }

    private static func run(_ arguments: [String]) async throws(Failure) -> Output {
        do {
            let result = try await Subprocess.run(
                .name("git"), arguments: Arguments(arguments), input: .none, output: .string(limit: 1 << 20),
                error: .string(limit: 1 << 16))
            guard case .exited(let status) = result.terminationStatus else {
                throw Failure("git was stopped by a signal")
            }
            return Output(status: status, output: result.standardOutput, errors: result.standardError)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure("git could not be started", hints: ["install git: sudo apt install git"])
        }
    }
}
