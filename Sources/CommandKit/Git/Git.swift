import Addresses
import Files
import Glibc
import Secrets
package import Subprocess
import SystemPackage
package import Terminal
package import Tools

/// git, as this process finds it on `PATH`.
package struct Git: Sendable {
    package let context: CommandContext

    package init(context: CommandContext) { self.context = context }

    /// The result of running git.
    package struct Output: Sendable {
        package let status: Int32
        package let output: String
        package let errors: String

        /// Whether git found no file to read.
        var isFileMissing: Bool { errors.hasBytes("unable to read config file") || errors.isEmpty }

        /// Returns git's error message as a failure.
        package func failure(doing what: String, hints: [Hint] = []) -> CommandError {
            var said = errors.pieces(between: "\n").last.map(String.init) ?? "exit status \(status)"
            for prefix in ["fatal: ", "error: "] where said.hasPrefix(prefix) { said.removeFirst(prefix.count) }
            return CommandError("git failed while \(what): \(said)", hints: hints)
        }
    }

    /// The oldest release that shows which file sets a value.
    package static let oldest = ToolVersion(2, 8)

    /// Returns git's release.
    ///
    /// - Throws: `CommandError` if git isn't installed.
    package func version() async throws(CommandError) -> ToolVersion {
        let result = try await run(["--version"])
        guard result.status == 0 else { throw result.failure(doing: "printing its version") }
        guard let version = ToolVersion(result.output) else {
            throw CommandError(
                "git prints no version: \(result.output.pieces(between: "\n").first ?? "")",
                hints: [Hint("see which program that is", run: "type git")])
        }
        return version
    }

    /// Returns git's release; throws if git isn't installed or is too old to be configured.
    @discardableResult
    package func requireUsable() async throws(CommandError) -> ToolVersion {
        let version = try await version()
        guard version >= Self.oldest else {
            throw CommandError(
                "git \(version) is too old: lanyard needs \(Self.oldest) or later",
                hints: [Package.git.hint("install a newer one")])
        }
        return version
    }

    /// Runs git with additional variables; its messages aren't translated.
    package func run(
        _ arguments: [String], with variables: [Environment.Key: String] = [:]
    ) async throws(CommandError) -> Output {
        let environment = variables.merging(["LC_ALL": "C"]) { $1 }.mapValues(Optional.some)
        var options = PlatformOptions()
        // If git has to be stopped, this lets it stop its helpers.
        options.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: .milliseconds(300))]
        do {
            let result = try await Subprocess.run(
                .name("git"), arguments: Arguments(arguments), environment: .inherit.updating(environment),
                platformOptions: options, input: .none, output: .string(limit: 1 << 20), error: .string(limit: 1 << 16))
            switch result.terminationStatus {
            case .exited(let status):
                return Output(status: status, output: result.standardOutput, errors: result.standardError)
            case .signaled(let signal): throw CommandError("git was killed by signal \(signal)")
            }
        } catch {
            throw error as? CommandError ?? unrunnable(error as? SubprocessError)
        }
    }

    /// Returns the reason why git didn't run, or not to its end.
    private func unrunnable(_ error: SubprocessError?) -> CommandError {
        guard error?.code != .outputLimitExceeded else {
            return CommandError(
                "git prints more than lanyard reads", hints: [Hint("look at it", run: "git config --list")])
        }
        guard let path = context.program("git") else {
            return CommandError("git is not installed", hints: [Package.git.hint()])
        }
        let reason: Message = error?.underlyingError.map { ": \($0.description.lowercased())" } ?? ""
        let shown = context.short(path)
        return CommandError("\(shown) can't be run\(reason)", hints: [Hint("see why", run: "\(shown) --version")])
    }
}

extension ToolVersion {
    /// Whether git accepts bearer tokens, and tells its other helpers not to store them.
    package var takesTokens: Bool { self >= ToolVersion(2, 46) }
}

/// A home folder for one run of git in which curl finds no passwords: links to everything in the user's but `.netrc`.
///
/// git's settings stay as they are, including those with a path below `~`. No setting of git's keeps curl from reading
/// that file.
struct HomeWithoutPasswords: ~Copyable {
    let path: String
    private let folder: Folder
    private static let most = 10_000

    /// Makes the folder, which is removed at the end of the value's life.
    ///
    /// - Throws: `CommandError` if there is no place for it.
    static func make(_ context: CommandContext) throws(CommandError) -> HomeWithoutPasswords {
        var template = Array("\(context.environment.absolutePath("TMPDIR") ?? "/tmp")/lanyard-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw failure(.last) }
        let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        let home = HomeWithoutPasswords(path: path, folder: try opened(path))
        guard let own = context.environment.absolutePath("HOME"), let folder = try? Folder(own) else { return home }
        for name in folder.names(atMost: most) where name != ".netrc" {
            try? home.folder.link(name, to: "\(own)/\(name)")
        }
        return home
    }

    private static func opened(_ path: String) throws(CommandError) -> Folder {
        do throws(FileError) { return try Folder(path) } catch { throw failure(error) }
    }

    deinit {
        for name in folder.names(atMost: Self.most + 1) { folder.remove(name) }
        rmdir(path)
    }

    /// Writes a file, and returns its path.
    func write(_ text: String, to name: String) throws(CommandError) -> String {
        do throws(FileError) {
            folder.remove(name)
            try folder.write(Array(text.utf8), to: name, isDurable: false)
        } catch {
            throw Self.failure(error)
        }
        return "\(path)/\(name)"
    }

    private static func failure(_ problem: FileError) -> CommandError {
        CommandError("no temporary folder can be made: \(problem.reason.lowercased())", hints: ["set TMPDIR"])
    }
}
