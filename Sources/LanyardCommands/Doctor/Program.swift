import Subprocess
import SystemPackage

/// Other programs, asked for a line about themselves.
enum Program {
    private static let patience = Duration.seconds(2)

    /// What a program prints within two seconds; nil if it fails, or takes longer.
    static func output(_ path: String, _ arguments: [String]) async -> String? {
        await withTaskGroup(of: String?.self) { group in
            group.addTask {
                let result = try? await Subprocess.run(
                    .path(FilePath(path)), arguments: Arguments(arguments), input: .none,
                    output: .string(limit: 1 << 16), error: .discarded)
                guard let result, result.terminationStatus.isSuccess else { return nil }
                return result.standardOutput
            }
            group.addTask {
                try? await Task.sleep(for: patience)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }
}
