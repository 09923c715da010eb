import Subprocess
import SystemPackage

/// Other programs, of which a line is read.
enum Program {
    /// Returns the output of a program; nil if it fails or takes longer than two seconds.
    ///
    /// It runs in `/`, where no project's files tell a tool which release to run, and downloads none.
    static func output(_ path: String, _ arguments: [String]) async -> String? {
        let variables: [Environment.Key: String?] = [
            "GOPROXY": "off", "RUSTUP_AUTO_INSTALL": "0", "DOTNET_CLI_TELEMETRY_OPTOUT": "1", "DOTNET_NOLOGO": "1",
            "DOTNET_SKIP_FIRST_TIME_EXPERIENCE": "1",
        ]
        guard let ended = await run(path, arguments, within: .seconds(2), with: variables, in: "/"), ended.isDone
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
