import Glibc
import Subprocess
import SystemPackage

/// How a program ended and what it printed.
struct Ended: Sendable, CustomStringConvertible {
    let status: Int32
    let output: String
    let errors: String

    var description: String { "status \(status)\nstdout: \(output)\nstderr: \(errors)" }

    /// stdout's lines.
    var lines: [String] { output.split(separator: "\n").map(String.init) }

    /// The value of a `key=value` line of stdout.
    func value(_ key: String) -> String? {
        lines.first { $0.hasPrefix("\(key)=") }.map { String($0.dropFirst(key.utf8.count + 1)) }
    }
}

/// Runs a program in exactly this environment and waits for it.
///
/// A program that takes longer than `timeout` is killed with its children, and the status is -9.
func run(
    _ program: String, _ arguments: [String], input: String = "", environment: [String: String], folder: String? = nil,
    timeout: Duration = .seconds(90)
) async throws -> Ended {
    try await run(
        program, arguments, bytes: Array(input.utf8), environment: environment, folder: folder, timeout: timeout)
}

/// Runs a program on input that need not be text.
func run(
    _ program: String, _ arguments: [String], bytes: [UInt8], environment: [String: String], folder: String? = nil,
    timeout: Duration = .seconds(90)
) async throws -> Ended {
    var options = PlatformOptions()
    options.createSession = true
    options.teardownSequence = [.gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: .milliseconds(500))]
    let variables = environment.map { (Environment.Key(stringLiteral: $0.key), $0.value) }
    let configuration = Configuration(
        executable: program.contains("/") ? .path(FilePath(program)) : .name(program), arguments: Arguments(arguments),
        environment: .custom(Dictionary(uniqueKeysWithValues: variables)),
        workingDirectory: folder.map { FilePath($0) }, platformOptions: options)
    return try await withThrowingTaskGroup(of: Ended?.self) { group in
        group.addTask {
            let result = try await Subprocess.run(
                configuration, input: .fileDescriptor(try stdin(holding: bytes), closeAfterSpawningProcess: true),
                output: .string(limit: 1 << 24), error: .string(limit: 1 << 24))
            let status: Int32 =
                switch result.terminationStatus {
                case .exited(let code): code
                case .signaled(let signal): -signal
                }
            return Ended(status: status, output: result.standardOutput, errors: result.standardError)
        }
        group.addTask {
            try await Task.sleep(for: timeout)
            return nil
        }
        defer { group.cancelAll() }
        if let first = try await group.next(), let ended = first { return ended }
        return Ended(status: -9, output: "", errors: "\(program) took longer than \(timeout)")
    }
}

/// A file to read input from: unlike a pipe, a program may end without reading all of it.
private func stdin(holding bytes: [UInt8]) throws -> FileDescriptor {
    var template = Array("/tmp/lanyard-input-XXXXXX".utf8CString)
    let number = mkstemp(&template)
    guard number >= 0 else { throw Errno(rawValue: errno) }
    unlink(template)
    let file = FileDescriptor(rawValue: number)
    try file.writeAll(bytes)
    try file.seek(offset: 0, from: .start)
    return file
}
