import CredentialEngine
import Files
import Glibc
import PluginHost
import PluginWire
import Rules
import SystemPackage
import Terminal
import TokenStore

/// The environment and streams of a command, as values that tests can replace.
struct CommandContext: Sendable {
    var environment: [String: String]
    var console: Console
    var input: FileDescriptor
    /// What the program was run with, its own name left out.
    var arguments: [String] = []
    /// The real path of the running program.
    var executable: String
    /// The connection to the keyring.
    var keyring: KeyringConnection
    /// Returns the current time in seconds since 1970.
    var clock: @Sendable () -> Int
    /// The far side for which the agent runs this process; nil for the user themselves.
    var requester: Requester?
    /// Takes what is going on instead of the console; nil unless another process waits for this one's work.
    var relay: MessageRelay?
    /// The renewals that this process leaves to others.
    let renewals = DueRenewals()

    /// Returns the context of this process.
    static func ofProcess() -> CommandContext {
        makeConfigurationAbsolute()
        let environment = ProcessEnvironment.variables()
        let console = Console(output: .standardOutput, errors: .standardError, environment: environment)
        return CommandContext(
            environment: environment, console: console, input: .standardInput,
            arguments: Array(CommandLine.arguments.dropFirst()),
            executable: SymbolicLink.target(of: "/proc/self/exe") ?? CommandLine.arguments[0],
            keyring: KeyringConnection(environment: environment), clock: { time(nil) })
    }

    /// Returns a variable's value; nil if it is unset or empty.
    func variable(_ name: String) -> String? {
        environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns a variable's value as git would read a boolean; nil if it is unset or not a boolean.
    func boolean(_ name: String) -> Bool? { environment[name].flatMap(Bool.init(gitWord:)) }

    /// Whether standard input is a terminal.
    var isInputTerminal: Bool { isatty(input.rawValue) == 1 }

    /// The parts that the engine depends on.
    var surroundings: Surroundings {
        Surroundings(
            environment: environment, executable: executable, version: Version.current, keyring: keyring, clock: clock)
    }

    /// The remembered answers.
    var answers: AnswerCache { AnswerCache(environment: environment) }

    /// The plugins that are installed, looked for anew.
    var registry: PluginRegistry { PluginRegistry.discover(environment: environment, executable: executable) }

    /// The user's configuration file, or where it would be.
    var userFile: String { Configuration.userFile(environment: environment) ?? "~/.config/lanyard/config.toml" }

    /// Seconds since 1970.
    var now: Int { clock() }

    /// Makes a relative `LANYARD_CONFIG` absolute, also for processes that are started from here and run in `/`.
    private static func makeConfigurationAbsolute() {
        guard let named = getenv("LANYARD_CONFIG"), named.pointee != 0, named.pointee != CChar(UInt8(ascii: "/")),
            let folder = getcwd(nil, 0)
        else { return }
        setenv("LANYARD_CONFIG", "\(String(cString: folder))/\(String(cString: named))", 1)
        free(folder)
    }
}
