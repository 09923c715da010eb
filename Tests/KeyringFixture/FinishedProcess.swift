internal import Subprocess
internal import SystemPackage

/// What a process that has ended said and how long it took.
public struct FinishedProcess: Sendable {
    /// The exit status; the signal's number plus 128 where a signal ended it.
    public let status: Int
    /// Its standard output.
    public let output: String
    /// Its standard error.
    public let error: String
    /// How long it ran.
    public let duration: Duration

    /// Runs a process to its end.
    ///
    /// - Parameters:
    ///   - executable: a path, or a name to look for in the environment's `PATH`.
    ///   - arguments: its arguments.
    ///   - environment: its whole environment.
    ///   - input: its standard input.
    /// - Returns: what it said; a failure of the process is none of this function.
    /// - Throws: where it could not be started, or said more than a mebibyte.
    public static func run(
        _ executable: String, _ arguments: [String] = [], environment: [String: String], input: String = ""
    ) async throws -> FinishedProcess {
        let clock = ContinuousClock()
        let start = clock.now
        let result = try await Subprocess.run(
            executable.hasPrefix("/") ? .path(FilePath(executable)) : .name(executable),
            arguments: Arguments(arguments),
            environment: .exactly(environment), input: .string(input),
            output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
        let status: Int =
            switch result.terminationStatus {
            case .exited(let code): Int(code)
            case .signaled(let signal): Int(signal) + 128
            }
        return FinishedProcess(
            status: status, output: result.standardOutput, error: result.standardError, duration: clock.now - start)
    }
}

extension Environment {
    /// These variables and no others.
    static func exactly(_ variables: [String: String]) -> Environment {
        .custom(Dictionary(uniqueKeysWithValues: variables.map { (Key(stringLiteral: $0.key), $0.value) }))
    }
}
