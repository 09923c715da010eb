public import AnswerCache
internal import Files
internal import Glibc
public import Keyring
internal import Rules

/// The parts of the process that the engine depends on.
public struct Surroundings: Sendable {
    /// The environment of the process.
    public var environment: [String: String]
    /// The real path of the running program; lanyard looks for plugins beside it.
    public var executable: String
    /// The program's version, since another version may answer differently.
    public var version: String
    /// The keyring of all stores.
    public var keyring: any Keyring
    private let clock: @Sendable () -> Int

    /// Describes a process; `clock` returns the current time in seconds since 1970.
    public init(
        environment: [String: String], executable: String, version: String, keyring: any Keyring,
        clock: @escaping @Sendable () -> Int
    ) {
        self.environment = environment
        self.executable = executable
        self.version = version
        self.keyring = keyring
        self.clock = clock
    }

    /// The remembered answers.
    public var answers: AnswerCache { AnswerCache(environment: environment) }

    /// The tokens that tools were given lately.
    var given: GivenTokens { GivenTokens(environment: environment) }

    /// The socket of the agent that the environment names; nil if it names none, or if this machine's settings may
    /// forbid it and have to be read first.
    var agent: String? {
        guard access(Configuration.systemFile, F_OK) != 0 else { return nil }
        return environment.absolutePath(Configuration.agentVariable)
    }

    /// The current time in seconds since 1970.
    public var now: Int { clock() }
}
