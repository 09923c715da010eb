import Subprocess
import SystemPackage

/// Other programs, of which a line is read.
enum Program {
    /// Returns the output of a program; nil if it fails or takes longer than two seconds.
    static func output(
        _ path: String, _ arguments: [String], with variables: [Environment.Key: String?] = [:],
        in folder: FilePath? = nil
    ) async -> String? {
        guard let ended = await run(path, arguments, within: .seconds(2), with: variables, in: folder), ended.isDone
        else { return nil }
        return ended.output
    }

    /// Whether a program does it, and what it prints; nil if it takes too long.
    static func run(
        _ path: String, _ arguments: [String], within limit: Duration, with variables: [Environment.Key: String?] = [:],
        in folder: FilePath? = nil
    ) async -> (isDone: Bool, output: String)? {
        await within(limit) {
            let ended = try? await Subprocess.run(
                .path(FilePath(path)), arguments: Arguments(arguments), environment: .inherit.updating(variables),
                workingDirectory: folder, input: .none, output: .string(limit: 1 << 16), error: .discarded)
            return (ended?.terminationStatus.isSuccess ?? false, ended?.standardOutput ?? "")
        }
    }
}
