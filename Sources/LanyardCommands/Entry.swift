import ArgumentParser
import AuthorityPlugin
import CLinux
import Glibc

/// The program: argv[0] and argv[1] pick a command.
public enum Lanyard {
    /// Runs the command that the arguments name and gives the process's exit status.
    ///
    /// git's verbs are dispatched before the argument parser. As `git-credential-lanyard`, an unknown verb is silent and
    /// succeeds: git may come to know more of them (gitcredentials(7)).
    public static func run(arguments: [String]) async -> Int32 {
        // What passes through here is not for core dumps; where the kernel refuses, there is nothing to be done about it.
        _ = lanyard_hide_memory()
        // A consumer that stops reading must not kill us in the middle of a write to the store.
        signal(SIGPIPE, SIG_IGN)
        let status = await dispatch(arguments)
        // A sign-in was interrupted and has been cleaned up after; now the signal does what it would have done at once.
        if let number = Interruption.signal { end(by: number) }
        return status
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

    private static func dispatch(_ arguments: [String]) async -> Int32 {
        let program = arguments.first?.split(separator: "/").last.map(String.init) ?? "lanyard"
        let rest = Array(arguments.dropFirst())
        if rest.count == 1, let verb = ProtocolVerb(rawValue: rest[0]) {
            return await verb.run(InteractionOptions.Values()).rawValue
        }
        if program == "git-credential-lanyard" {
            guard let last = rest.last else { return await LanyardCommand.run(["--help"]) }
            let isOption = last.hasPrefix("-")
            guard isOption || ProtocolVerb(rawValue: last) != nil else { return ExitStatus.done.rawValue }
            // Options come before the verb where they stand in credential.helper.
            return await LanyardCommand.run(isOption ? rest : [last] + rest.dropLast())
        }
        return await LanyardCommand.run(rest)
    }
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
        subcommands: [
            Login.self, Logout.self, Accounts.self, Use.self, Token.self, Configure.self, Unconfigure.self,
            RuleCommand.self, Explain.self, Doctor.self, PluginCommand.self, Sandbox.self, Get.self, Store.self,
            Erase.self, Capability.self,
        ])

    /// Parses and runs, and turns every way to end into an exit status.
    static func run(_ arguments: [String]) async -> Int32 {
        do {
            var command = try parseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            return ExitStatus.done.rawValue
        } catch let failure as Failure {
            CommandContext.current.console.report(failure)
            return failure.status.rawValue
        } catch {
            let status = exitCode(for: error)
            let text = fullMessage(for: error)
            let console = CommandContext.current.console
            if status == .success { console.print(text) } else { console.complain(text) }
            return status.rawValue
        }
    }
}
