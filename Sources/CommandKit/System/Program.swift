import Addresses
import Files
import Glibc
import Secrets
package import Subprocess
package import SystemPackage
package import Terminal

/// Other programs, of which a line is read.
package enum Program {
    /// Returns the output of a program; nil if it fails or takes longer than two seconds.
    package static func output(
        _ path: String, _ arguments: [String], with variables: [Environment.Key: String?] = [:],
        in folder: FilePath? = nil
    ) async -> String? {
        guard let ended = await run(path, arguments, within: .seconds(2), with: variables, in: folder), ended.isDone
        else { return nil }
        return ended.output
    }

    /// Whether a program does it, and what it prints; nil if it takes too long.
    package static func run(
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

/// What the kernel says of a process, in proc_pid_stat(5)'s fields behind the name.
package struct ProcessFields {
    private let words: [Substring]

    /// Nil if the process has gone.
    package init?(of process: pid_t) {
        guard let file = try? OpenFile("/proc/\(process)/stat").contents(atMost: 4096),
            let (_, fields) = String(decoding: file, as: UTF8.self).cut(atLast: ")")
        else { return nil }
        words = fields.pieces(between: " ")
    }

    /// The parent; 0 for the first of a container's.
    package var parent: pid_t? { field(4).flatMap { pid_t($0) } }

    /// When it started: the next process with its number has started at another time.
    package var start: Substring? { field(22) }

    /// A field, counted as there; the name in parentheses is the second.
    private func field(_ number: Int) -> Substring? { words.count > number - 3 ? words[number - 3] : nil }
}

/// A variable of this process's environment, which is also what its libraries read; nil if it is unset or empty.
func processVariable(_ name: String) -> String? {
    getenv(name).flatMap { $0.pointee == 0 ? nil : String(cString: $0) }
}

/// Returns the body's result; nil if it takes longer than the limit.
package func within<Result: Sendable>(_ limit: Duration, _ body: @escaping @Sendable () async -> Result) async
    -> Result?
{
    await withTaskGroup(of: Result?.self) { group in
        group.addTask { await body() }
        group.addTask {
            try? await Task.sleep(for: limit)
            return nil
        }
        defer { group.cancelAll() }
        return await group.next() ?? nil
    }
}

extension Hint {
    /// Says that none of a tool's programs is installed.
    package static func notInstalled(_ programs: [String]) -> Hint {
        guard programs.count > 1, let last = programs.last else {
            return "\(programs.joined()) is not on PATH; this takes effect once it is"
        }
        let others = programs.dropLast().joined(separator: ", ")
        return "neither \(others) nor \(last) is on PATH; this takes effect once one of them is"
    }

    /// Says that a tool won't find a lanyard program.
    package static func missing(_ program: String, _ context: CommandContext) -> Hint {
        guard let folder = InstalledFiles(context).folder(of: program) else {
            return Hint("\(program) is not on PATH; it is a link to lanyard, which lanyard's installation makes")
        }
        return Hint("\(program) is not on PATH; add its folder", write: "export PATH=\"\(folder.displayable()):$PATH\"")
    }
}
