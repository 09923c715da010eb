import Addresses
package import AnswerCache
import CLinux
package import CredentialEngine
import Files
import Glibc
package import Keyring
package import PluginHost
import PluginWire
import Rules
import Secrets
package import SystemPackage
package import Terminal

/// The environment and streams of a command, as values that tests can replace.
package struct CommandContext: Sendable {
    package var environment: [String: String]
    package var console: Console
    package var input: FileDescriptor
    /// What the program was run with, its own name left out.
    package var arguments: [String] = []
    /// The real path of the running program.
    package var executable: String
    /// The keyring of all stores.
    package var keyring: any Keyring
    /// Returns the current time in seconds since 1970.
    package var clock: @Sendable () -> Int
    /// The far side for which the agent runs this process; nil for the user themselves.
    package var requester: Requester?
    /// Takes what is going on instead of the console; nil unless another process waits for this one's work.
    var relay: MessageRelay?
    /// The renewals that this process leaves to others.
    package let renewals = DueRenewals()

    /// Returns the context of this process.
    package static func ofProcess() -> CommandContext {
        makeConfigurationAbsolute()
        let environment = ProcessEnvironment.variables()
        let console = Console(output: .standardOutput, errors: .standardError, environment: environment)
        return CommandContext(
            environment: environment, console: console, input: .standardInput,
            arguments: Array(CommandLine.arguments.dropFirst()),
            executable: FileStatus.linkTarget(of: "/proc/self/exe") ?? CommandLine.arguments[0],
            keyring: keyring(environment), clock: { time(nil) })
    }

    /// Makes the keyring of a process with these variables.
    package static func keyring(_ environment: [String: String]) -> any Keyring {
        MachineKeyring(environment: environment)
    }

    /// Returns a variable's value; nil if it is unset or empty.
    package func variable(_ name: String) -> String? {
        environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns a variable's value as git would read a boolean; nil if it is unset or not a boolean.
    package func boolean(_ name: String) -> Bool? { environment[name].flatMap(Bool.init(gitWord:)) }

    /// Whether standard input is a terminal.
    package var isInputTerminal: Bool { isatty(input.rawValue) == 1 }

    /// The parts that the engine depends on.
    package var surroundings: Surroundings {
        Surroundings(
            environment: environment, executable: executable, version: Version.current, keyring: keyring, clock: clock)
    }

    /// The remembered answers.
    package var answers: AnswerCache { AnswerCache(environment: environment) }

    /// The plugins that are installed, looked for anew.
    package var registry: PluginRegistry { PluginRegistry.discover(environment: environment, executable: executable) }

    /// The user's configuration file, or where it would be.
    package var userFile: String { Configuration.userFile(environment: environment) ?? "~/.config/lanyard/config.toml" }

    /// Seconds since 1970.
    package var now: Int { clock() }

    /// Makes a relative `LANYARD_CONFIG` absolute, also for processes that are started from here and run in `/`.
    private static func makeConfigurationAbsolute() {
        guard let named = getenv("LANYARD_CONFIG"), named.pointee != 0, named.pointee != CChar(UInt8(ascii: "/")),
            let folder = getcwd(nil, 0)
        else { return }
        setenv("LANYARD_CONFIG", "\(String(cString: folder))/\(String(cString: named))", 1)
        free(folder)
    }

    /// A hint to run the same command line as root.
    package var asRoot: Hint {
        // The folders in which sudo usually looks for programs, whatever the user's PATH is.
        let folders = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]
        let isFound = folders.contains { access("\($0)/lanyard", X_OK) == 0 }
        let words = ["sudo", isFound ? "lanyard" : executable] + arguments
        return Hint("only root can change it", run: ShellCommand(words: words))
    }

    /// Returns the path of a program on `PATH`; nil if there is none.
    package func program(_ name: String) -> String? {
        if name.hasBytes("/") { return access(name, X_OK) == 0 ? name : nil }
        let folders = (variable("PATH") ?? "").pieces(between: ":")
        return folders.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// Whether a path exists.
    package func isFile(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Returns a path for users, with `~` for the home folder.
    package func short(_ path: String) -> String {
        guard let home = variable("HOME"), home.count > 1, path.hasPrefix(home + "/") else { return path.displayable() }
        return "~\(path.dropFirst(home.count))".displayable()
    }
}

/// The files that are installed beside the program.
package struct InstalledFiles: Sendable {
    private let folder: String

    package init(_ context: CommandContext) {
        folder = "/" + context.executable.pieces(between: "/").dropLast().joined(separator: "/")
    }

    /// The URL of the configuration's JSON schema; nil if it isn't installed.
    package var schema: String? {
        let places = ["\(folder)/../share/lanyard/config.schema.json", "\(folder)/../../../share/config.schema.json"]
        return places.lazy.compactMap(FileTrust.realPath).first.map { "file://" + $0 }
    }

    /// The path of `git-credential-lanyard`; nil if it isn't installed.
    package var credentialHelper: String? { program("git-credential-lanyard") }

    /// Returns the path of a program that tools run, beside this one or, if its name is also another program's, in a
    /// folder of its own; nil if it isn't installed.
    package func program(_ name: String) -> String? {
        folder(of: name).map { "\($0)/\(name)" }
    }

    /// Returns the folder of a program; nil if it isn't installed.
    package func folder(of program: String) -> String? {
        ["\(folder)", "\(folder)/../lib/lanyard/bin"].first { access("\($0)/\(program)", X_OK) == 0 }
            .flatMap(FileTrust.realPath)
    }
}

// What the system grants this process, without which libraries hang or abort instead of failing.
extension CommandContext {
    /// The threads that GLib, Swift and Dispatch start at least.
    private static let threads: Int32 = 4
    /// The files that are open at the same time.
    private static let files: Int32 = 8

    /// The reason why nothing can be done that needs threads or programs; nil if there is none.
    ///
    /// A cached answer needs neither, and so isn't checked for.
    package static let lackOfResources: CommandError? = {
        switch -lanyard_check_resources(threads, files) {
        case 0: return missingProcesses
        case EAGAIN:
            return CommandError(
                "the system grants no more threads: too many processes of this user, or in this container, are running",
                hints: [Hint("see the limit, and end some of them, or raise it", run: "ulimit -u")])
        case EMFILE:
            return CommandError(
                "this process may open too few files", hints: [Hint("raise the limit", run: "ulimit -n 1024")])
        case let number:
            return CommandError(
                "/dev/null can't be opened: \(String(cString: strerror(number)))",
                hints: [Hint("see what it is", run: "ls -l /dev/null")])
        }
    }()

    /// Dispatch ends a process that can't read its own entry there.
    private static var missingProcesses: CommandError? {
        guard access("/proc/self/task", R_OK | X_OK) != 0 else { return nil }
        return CommandError("/proc is not mounted", hints: [Hint("as root", run: "mount -t proc proc /proc")])
    }
}
