internal import Files
internal import Glibc
internal import Rules
public import TokenStore

/// What of the process the engine depends on.
public struct Surroundings: Sendable {
    /// The process's variables.
    public var environment: [String: String]
    /// The running program's real path; plugins are looked for beside it.
    public var executable: String
    /// The program's version: another one may answer otherwise.
    public var version: String

    /// Describes a process.
    public init(environment: [String: String], executable: String, version: String) {
        self.environment = environment
        self.executable = executable
        self.version = version
    }

    /// What was answered before.
    public var answers: AnswerCache { AnswerCache(environment: environment) }

    /// The agent that a variable names; nil if none does, or the settings of this machine may forbid it and have to be read.
    var agent: String? {
        guard access(Configuration.systemFile, F_OK) != 0 else { return nil }
        return environment.absolutePath(Configuration.agentVariable)
    }

    /// Seconds since 1970.
    public var now: Int { time(nil) }
}
