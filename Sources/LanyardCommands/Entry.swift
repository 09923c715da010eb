import Addresses
import ArgumentParser
import CLinux
import ConsumerProtocols
import Dispatch
import Glibc
import PluginHost
import Terminal

/// The program: argv[0] and argv[1] pick a consumer's protocol or a command.
public enum Lanyard {
    /// Runs the command that the arguments name, and ends the process with its exit status.
    ///
    /// git's verbs are dispatched before the argument parser. As `git-credential-lanyard`, an unknown verb is silent and
    /// succeeds: git may come to know more of them (gitcredentials(7)).
    public static func run(arguments: [String]) -> Never {
        let rest = Array(arguments.dropFirst())
        let verb = rest.count == 1 ? GitConsumer.Verb(rawValue: rest[0]) : nil
        // What `exec` gives its command back, which git's verbs never need; only the main thread still has it.
        if verb == nil { _ = Inheritance.atStart }
        // What passes through here is not for core dumps; if the kernel refuses, there is nothing to be done about it.
        _ = lanyard_hide_memory()
        // A consumer that stops reading must not kill us in the middle of a write to the store.
        signal(SIGPIPE, SIG_IGN)
        let context = CommandContext.ofProcess()
        if let verb {
            var run = ConsumerRun(GitConsumer(verb), in: context, InteractionOptions.Values())
            switch run.untilOthersAreNeeded() {
            case .end(let status): leave(status, context.console)
            case .needsOthers(let pending): finish(context.console) { [run] in await run.goingOn(with: pending) }
            }
        }
        let program = arguments.first?.pieces(between: "/").last.map(String.init) ?? "lanyard"
        guard program == "git-credential-lanyard" else {
            finish(context.console) { await LanyardCommand.run(rest, in: context) }
        }
        guard let last = rest.last else {
            context.console.report(.noVerb)
            leave(ExitStatus.usage.rawValue, context.console)
        }
        let isOption = last.hasPrefix("-")
        guard isOption || GitConsumer.Verb(rawValue: last) != nil else {
            leave(ExitStatus.done.rawValue, context.console)
        }
        // Options come before the verb where they stand in credential.helper.
        let words = isOption ? rest : [last] + rest.dropLast()
        finish(context.console) { await LanyardCommand.run(words, in: context) }
    }

    /// Does what takes more than one thread; starting them alone takes longer than most answers.
    private static func finish(_ console: Console, _ body: sending @escaping () async -> Int32) -> Never {
        Task {
            let status = await body()
            // A sign-in was interrupted and has been cleaned up after; now the signal does what it would have done at once.
            if let number = Interruption.signal { end(by: number) }
            leave(status, console)
        }
        dispatchMain()
    }

    /// Ends the process at once: a thread may still be at work on the keyring, which nothing must be taken from.
    ///
    /// A result that is not all there is a failure, even if the work was done: whoever reads it must not trust it.
    private static func leave(_ status: Int32, _ console: Console) -> Never {
        fflush(nil)
        guard status == ExitStatus.done.rawValue, let reason = console.undelivered else { _exit(status) }
        let failure = Failure(undelivered: reason)
        console.report(failure)
        _exit(failure.status.rawValue)
    }

    /// Ends the process as the signal does by itself, so that whoever started it sees what happened.
    private static func end(by number: Int32) {
        signal(number, SIG_DFL)
        // The threads of Swift's tasks have signals blocked.
        var own = sigset_t()
        sigemptyset(&own)
        sigaddset(&own, number)
        pthread_sigmask(SIG_UNBLOCK, &own, nil)
        raise(number)
    }
}

/// A command that does something: it works in the context that it is given, and nowhere else.
protocol Command: AsyncParsableCommand {
    mutating func run(in context: CommandContext) async throws
}

/// `lanyard`, for people.
struct LanyardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lanyard",
        abstract: "Gives every developer tool the right credential.",
        discussion: """
            As git's credential helper it answers get, store and erase. People sign in and out, see their accounts \
            and get tokens for other tools.
            """,
        version: Version.description,
        groupedSubcommands: [
            CommandGroup(
                name: "Setup",
                subcommands: [
                    ConfigureCommand.self, UnconfigureCommand.self, RuleCommand.self, ConfigCommand.self,
                    DoctorCommand.self, ExplainCommand.self, PluginCommand.self,
                    SandboxCommand.self,
                ]),
            CommandGroup(
                name: "Account",
                subcommands: [
                    LoginCommand.self, LogoutCommand.self, StatusCommand.self, AccountsCommand.self, UseCommand.self,
                ]),
            CommandGroup(name: "Token", subcommands: [TokenCommand.self, ExecCommand.self]),
            CommandGroup(
                name: "Storage",
                subcommands: [CacheCommand.self, ExportCommand.self, ImportCommand.self, UnlockCommand.self]),
            CommandGroup(
                name: "Protocol",
                subcommands: [
                    GetCommand.self, StoreCommand.self, EraseCommand.self, CapabilityCommand.self, CompleteCommand.self,
                ]),
        ])

    /// Parses and runs, and turns every way to end into an exit status.
    static func run(_ arguments: [String], in context: CommandContext) async -> Int32 {
        // The parser prints its own help for a command that it doesn't know.
        if arguments.first == "help", let unknown = CommandTree.lanyard.unknownCommand(in: Array(arguments.dropFirst()))
        {
            let usage = fullMessage(for: ValidationError("help"))
            context.console.complain(unknown.complaint(instead: usage))
            return ExitStatus.usage.rawValue
        }
        do {
            var command = try parseAsRoot(arguments)
            if var command = command as? any Command {
                try await command.run(in: context)
            } else if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            return ExitStatus.done.rawValue
        } catch let failure as Failure {
            context.console.report(failure)
            return failure.status.rawValue
        } catch {
            let status = exitCode(for: error)
            let text = fullMessage(for: error)
            let console = context.console
            guard status != .success else {
                console.print(text)
                return status.rawValue
            }
            let complaint = CommandTree.lanyard.unknownCommand(in: arguments)?.complaint(instead: text) ?? text
            // A command that has told what is wrong itself ends with a status only.
            if !complaint.isEmpty { console.complain(complaint) }
            return status.rawValue
        }
    }
}

extension Failure {
    /// `git-credential-lanyard` without one of git's verbs.
    fileprivate static let noVerb = Failure(
        "git-credential-lanyard takes one of git's verbs: get, store, erase or capability",
        hints: [Hint("what people run is", run: "lanyard --help")], status: .usage)
}
