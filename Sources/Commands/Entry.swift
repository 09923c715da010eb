import Addresses
import ArgumentParser
import CLinux
import CommandKit
import Diagnosis
import Dispatch
import Glibc
import PluginHost
import PluginWire
import Rules
import Terminal
import Tools

/// The program: argv[0] and argv[1] select a tool's protocol or a command.
public enum Lanyard {
    /// Runs the command that the arguments name, and ends the process with its exit status.
    ///
    /// Tools' requests are dispatched before the argument parser. As `git-credential-lanyard`, an unknown operation
    /// succeeds silently, because newer versions of git may have more of them (gitcredentials(7)).
    public static func run(arguments: [String]) -> Never {
        let rest = Array(arguments.dropFirst())
        let program = arguments.first?.pieces(between: "/").last.map(String.init) ?? "lanyard"
        let hidden = HiddenProgram(program, rest)
        let tool = hidden == nil ? Tool.served(program: program, arguments: rest) : nil
        let verb = hidden == nil && tool == nil && rest.count == 1 ? GitProtocol.Verb(rawValue: rest[0]) : nil
        // What `exec` passes on to its command, and no tool's protocol needs. Only the main thread still has it.
        if tool == nil, verb == nil { _ = Inheritance.atStart }
        // Keeps secrets out of core dumps; if the kernel refuses, there is nothing to do about it.
        _ = lanyard_hide_memory()
        lanyard_settle()
        // A tool that stops reading must not kill this process in the middle of a write to the store.
        signal(SIGPIPE, SIG_IGN)
        let context = CommandContext.ofProcess()
        if let hidden { leave(hidden.run(in: context), context) }
        if let verb { serve(GitProtocol(verb), in: context) }
        if let (tool, arguments) = tool, let served = tool.start(context.call(arguments)) {
            serve(served, in: context)
        }
        guard program == "git-credential-lanyard" else {
            finish(context) { await LanyardCommand.run(rest, in: context) }
        }
        guard let last = rest.last else {
            context.console.report(.noVerb)
            leave(ExitStatus.usage.rawValue, context)
        }
        let isOption = last.hasPrefix("-")
        guard isOption || GitProtocol.Verb(rawValue: last) != nil else {
            leave(ExitStatus.done.rawValue, context)
        }
        // Options that stand in credential.helper come before every verb. Who asks nobody has no use for them.
        if let verb = GitProtocol.Verb(rawValue: last), verb != .get { serve(GitProtocol(verb), in: context) }
        let words = isOption ? rest : [last] + rest.dropLast()
        let refusal = last == GitProtocol.Verb.get.rawValue ? GitProtocol.quit : []
        finish(context, refusal: refusal) {
            let status = await LanyardCommand.run(words, in: context)
            // An option in credential.helper is wrong.
            if status == ExitStatus.usage.rawValue { context.console.write(refusal) }
            return status
        }
    }

    /// Serves a tool, with threads only if they are needed.
    private static func serve(_ tool: any ToolProtocol, in context: CommandContext) -> Never {
        var run = ToolRun(tool, in: context)
        switch run.start() {
        case .end(let status): leave(status, context)
        case .needsOthers(let pending): finish(context) { [run] in await run.finish(after: pending) }
        }
    }

    /// Runs what needs more than one thread; starting them alone takes longer than most answers.
    ///
    /// `refusal` is what a tool reads if that isn't possible.
    private static func finish(
        _ context: CommandContext, refusal: [UInt8] = [], _ body: sending @escaping () async -> Int32
    ) -> Never {
        if let failure = CommandContext.lackOfResources {
            context.console.write(refusal)
            context.console.report(failure)
            leave(failure.status.rawValue, context)
        }
        Task {
            let status = await body()
            // The signal interrupted a sign-in, which has been cleaned up. Now it has its usual effect.
            if let number = Interrupts.signal { end(by: number) }
            leave(status, context)
        }
        dispatchMain()
    }

    /// Ends the process at once; another thread may still be using the keyring, so nothing may be deallocated.
    ///
    /// If a result wasn't written completely, the status is a failure even if the work was done, so that no reader
    /// trusts it.
    private static func leave(_ status: Int32, _ context: CommandContext) -> Never {
        fflush(nil)
        guard status == ExitStatus.done.rawValue, let reason = context.console.undelivered else {
            context.renewals.startLast(in: context)
            _exit(status)
        }
        let failure = CommandError(undelivered: reason)
        context.console.report(failure)
        _exit(failure.status.rawValue)
    }

    /// Ends the process by a signal, so that its parent sees what happened.
    private static func end(by number: Int32) {
        signal(number, SIG_DFL)
        // Swift's task threads block signals.
        var own = sigset_t()
        sigemptyset(&own)
        sigaddset(&own, number)
        pthread_sigmask(SIG_UNBLOCK, &own, nil)
        raise(number)
    }
}

/// The root command, for users.
struct LanyardCommand: AsyncParsableCommand, WithExamples {
    static let configuration = CommandConfiguration(
        commandName: "lanyard",
        abstract: "Give git and every other developer tool the credentials they need.",
        discussion: """
            lanyard is a credential helper for git, docker, cargo, kubectl, pip and other tools. It gets access tokens from \
            Microsoft Entra ID, Azure AD B2C, GitHub, GitLab and other authorities, renews them silently, and keeps them in your \
            keyring.

            To begin: `lanyard configure git URL`, or `lanyard login`, which asks the same. To teach lanyard another authority: \
            `lanyard plugin`.
            """,
        groupedSubcommands: [
            CommandGroup(
                name: "Account",
                subcommands: [LoginCommand.self, LogoutCommand.self, StatusCommand.self, UseCommand.self]),
            CommandGroup(name: "Token", subcommands: [TokenCommand.self, ExecCommand.self]),
            CommandGroup(
                name: "Setup",
                subcommands: [
                    ConfigureCommand.self, UnconfigureCommand.self, RuleCommand.self, IdentityCommand.self,
                    ConfigCommand.self, ForwardCommand.self, SandboxCommand.self,
                ]),
            CommandGroup(name: "Diagnosis", subcommands: [DoctorCommand.self, ExplainCommand.self]),
            CommandGroup(
                name: "Storage",
                subcommands: [
                    CacheCommand.self, ExportCommand.self, ImportCommand.self, KeyringCommand.self, UnlockCommand.self,
                ]),
            CommandGroup(name: "Advanced", subcommands: [LockCommand.self, PluginCommand.self, ShareCommand.self]),
            CommandGroup(
                name: "For other programs",
                subcommands: [
                    GetCommand.self, StoreCommand.self, EraseCommand.self, CapabilityCommand.self,
                ] + ToolVerb.commands),
            CommandGroup(
                name: "Internal",
                subcommands: [
                    CompleteCommand.self, DescribeCommand.self, RenewCommand.self, RedeemCommand.self,
                ]),
        ])

    static let examples: KeyValuePairs = [
        "Make git use lanyard for an organisation": "lanyard configure git \(Example.url)",
        "Clone; the first time, you sign in": "git clone \(Example.url)/project/_git/repo",
        "Find out what is wrong": "lanyard doctor",
    ]

    @Flag(name: [.customShort("V"), .long], help: "Show the version.")
    var version = false

    mutating func validate() throws {
        if version { throw CleanExit.message(Version.description) }
    }

    /// Parses and runs the arguments, and converts every outcome to an exit status.
    static func run(_ arguments: [String], in context: CommandContext) async -> Int32 {
        let console = context.console
        let arguments = arguments == ["version"] ? ["--version"] : arguments
        let words = arguments.first == "help" ? Array(arguments.dropFirst()) : arguments
        // For an unknown command, the parser would show its own help.
        if words.count < arguments.count, let unknown = CommandTree.lanyard.unknownCommand(in: words) {
            console.error(unknown.error)
            return ExitStatus.usage.rawValue
        }
        do {
            var command = try parseAsRoot(arguments)
            if var command = command as? any Command {
                try await command.run(in: context)
            } else {
                // A command that only has others below it shows its help.
                try command.run()
            }
            return ExitStatus.done.rawValue
        } catch let failure as CommandError {
            console.report(failure.inView(of: context))
            return failure.status.rawValue
        } catch {
            return end(by: error, of: words, console)
        }
    }

    /// Ends as the argument parser requests: with help, with a complaint, or with the status of a command that has
    /// reported its own error.
    private static func end(by error: any Error, of words: [String], _ console: Console) -> Int32 {
        let status = exitCode(for: error)
        let text = fullMessage(for: error)
        guard status != .success else {
            console.print(text.hasPrefix("OVERVIEW: ") ? help(text, of: words) : text)
            return status.rawValue
        }
        // A command that has reported its own error leaves no text.
        guard !text.isEmpty else { return status.rawValue }
        if let unknown = CommandTree.lanyard.unknownCommand(in: words) {
            console.error(unknown.error)
        } else if words == ["-v"] {
            console.error(UsageError("unknown option '-v'", hints: [Hint("did you mean", run: "lanyard -V")]))
        } else {
            console.error(UsageError(message: message(for: error), text: text))
        }
        return status.rawValue
    }
}

extension CommandError {
    /// The error for `git-credential-lanyard` without an operation.
    fileprivate static let noVerb = CommandError(
        "git-credential-lanyard takes one of git's verbs: get, store, erase or capability",
        hints: [Hint("for the other commands", run: "lanyard --help")], status: .usage)
}
