import Glibc
import Subprocess
import SystemPackage

/// A program's exit status and output.
package struct Ended: Sendable, CustomStringConvertible {
    /// The exit status, or the negative number of the signal that ended it.
    package let status: Int32
    /// Its standard output.
    package let output: String
    /// Its standard error.
    package let errors: String
    /// How long it ran.
    package let duration: Duration

    package var description: String { "status \(status)\nstdout: \(output)\nstderr: \(errors)" }

    /// The lines of stdout.
    package var lines: [String] { output.split(separator: "\n").map(String.init) }

    /// Whether git's protocol on stdout holds no credential; it may say that git should ask nobody else.
    package var hasNoCredential: Bool { output.isEmpty || output == "quit=1\n" }

    /// Returns the value of a `key=value` line of stdout.
    package func value(_ key: String) -> String? {
        lines.first { $0.hasPrefix("\(key)=") }.map { String($0.dropFirst(key.utf8.count + 1)) }
    }
}

/// Runs a program in exactly this environment and waits for it to exit.
///
/// A program that exceeds `timeout` is killed with its children; its status is -9.
package func run(
    _ program: String, _ arguments: [String], input: String = "", environment: [String: String], folder: String? = nil,
    timeout: Duration = .seconds(90)
) async throws -> Ended {
    try await run(
        program, arguments, bytes: Array(input.utf8), environment: environment, folder: folder, timeout: timeout)
}

/// Runs a program with binary input.
package func run(
    _ program: String, _ arguments: [String], bytes: [UInt8], environment: [String: String], folder: String? = nil,
    timeout: Duration = .seconds(90)
) async throws -> Ended {
    var options = PlatformOptions()
    options.createSession = true
    options.teardownSequence = [.gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: .milliseconds(500))]
    let configuration = Configuration(
        executable: executable(program), arguments: Arguments(arguments), environment: .exactly(environment),
        workingDirectory: folder.map { FilePath($0) }, platformOptions: options)
    let start = ContinuousClock.now
    return try await withThrowingTaskGroup(of: Ended?.self) { group in
        group.addTask {
            let result = try await Subprocess.run(
                configuration, input: .fileDescriptor(try stdin(holding: bytes), closeAfterSpawningProcess: true),
                output: .string(limit: 1 << 24), error: .string(limit: 1 << 24))
            return Ended(
                status: result.terminationStatus.number, output: result.standardOutput, errors: result.standardError,
                duration: ContinuousClock.now - start)
        }
        group.addTask {
            try await Task.sleep(for: timeout)
            return nil
        }
        defer { group.cancelAll() }
        if let first = try await group.next(), let ended = first { return ended }
        return Ended(status: -9, output: "", errors: "\(program) took longer than \(timeout)", duration: timeout)
    }
}

/// Runs a program in exactly this environment while the body runs, and then ends it; returns the body's result and the
/// program's status, as in ``Ended``.
///
/// One that takes longer than a minute to end is killed, and that is an error. Its output goes to a file, or nowhere.
/// This doesn't use Foundation's `Process`, which may wait forever for a program that has already exited if many tests
/// run concurrently.
package func with<Result: Sendable>(
    _ program: String, _ arguments: [String] = [], input: String = "", output: String = "/dev/null",
    environment: [String: String], endedBy signal: CInt = SIGKILL, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Result
) async throws -> (result: Result, status: Int32) {
    let file = try FileDescriptor.open(
        FilePath(output), .writeOnly, options: [.create, .truncate, .closeOnExec], permissions: .ownerReadWrite)
    let ended = try await Subprocess.run(
        executable(program), arguments: Arguments(arguments), environment: .exactly(environment),
        input: .fileDescriptor(try stdin(holding: Array(input.utf8)), closeAfterSpawningProcess: true),
        output: .fileDescriptor(file, closeAfterSpawningProcess: true), error: .discarded
    ) { running in
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        let process = running.processIdentifier.value
        kill(process, signal)
        guard await hasEnded(process, within: .seconds(60)) else {
            kill(process, SIGKILL)
            if case .failure = result { return result }
            return .failure(ProgramError("\(program) \(arguments) didn't end after signal \(signal)"))
        }
        return result
    }
    return (try ended.closureResult.get(), ended.terminationStatus.number)
}

/// Runs a program in a session of its own, and sends it, or all of its session's group, a signal after a time.
///
/// - Returns: The status, as in ``Ended``; what SIGSTOP stops is killed soon.
package func strike(
    _ program: String, _ arguments: [String] = [], input: String = "", environment: [String: String],
    by signal: CInt, isForGroup: Bool, after moment: Duration
) async throws -> Int32 {
    var options = PlatformOptions()
    options.createSession = true
    let configuration = Configuration(
        executable: executable(program), arguments: Arguments(arguments), environment: .exactly(environment),
        platformOptions: options)
    return try await Subprocess.run(
        configuration,
        input: .fileDescriptor(try stdin(holding: Array(input.utf8)), closeAfterSpawningProcess: true),
        output: .discarded, error: .discarded
    ) { running in
        try? await Task.sleep(for: moment)
        let process = running.processIdentifier.value
        kill(isForGroup ? -process : process, signal)
        guard signal == SIGSTOP else { return }
        try? await Task.sleep(for: .milliseconds(50))
        kill(process, SIGKILL)
    }.terminationStatus.number
}

/// A program didn't do what every test requires.
private struct ProgramError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Waits until a child has ended, and leaves its status to others.
private func hasEnded(_ process: pid_t, within limit: Duration) async -> Bool {
    let end = ContinuousClock.now + limit
    var moment = Duration.milliseconds(1)
    while true {
        var information = siginfo_t()
        let status = waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT)
        // It has no process if it still runs.
        if status != 0 || information._sifields._sigchld.si_pid != 0 { return true }
        guard ContinuousClock.now < end else { return false }
        try? await Task.sleep(for: moment)
        moment = min(moment * 2, .milliseconds(50))
    }
}

private func executable(_ program: String) -> Executable {
    program.contains("/") ? .path(FilePath(program)) : .name(program)
}

extension TerminationStatus {
    fileprivate var number: Int32 {
        switch self {
        case .exited(let code): code
        case .signaled(let signal): -signal
        }
    }
}

/// Returns a file with the input: unlike with a pipe, a program may exit without reading all of it.
private func stdin(holding bytes: [UInt8]) throws -> FileDescriptor {
    var template = Array("\(ScratchDirectory.place)/lanyard-input-XXXXXX".utf8CString)
    let number = mkstemp(&template)
    guard number >= 0 else { throw Errno(rawValue: errno) }
    unlink(template)
    let file = FileDescriptor(rawValue: number)
    try file.writeAll(bytes)
    try file.seek(offset: 0, from: .start)
    return file
}

extension Environment {
    /// Returns an environment with only these variables.
    static func exactly(_ variables: [String: String]) -> Environment {
        .custom(Dictionary(uniqueKeysWithValues: variables.map { (Key(stringLiteral: $0.key), $0.value) }))
    }
}
