import CommandKit
import CredentialEngine
import Model
import PluginHost
import SystemPackage
import Terminal
import Tools

/// Serves a tool on the process's streams: carries out its turns with the engine's answers.
struct ToolRun: Sendable {
    /// The state in which a run pauses or ends.
    enum Stop {
        /// The process ends with this status.
        case end(Int32)
        /// The run continues once this is done.
        case needsOthers(@Sendable () async -> Outcome)
    }

    private var tool: any ToolProtocol
    private let engine: Engine
    private let context: CommandContext
    /// The engine's last refusal, in words.
    private var refusal: CommandError?
    /// The last question to the engine.
    private var question: Question?

    init(_ tool: any ToolProtocol, in context: CommandContext, _ options: InteractionOptions.Values = .init()) {
        self.tool = tool
        self.context = context
        var options = options
        options.timeLimit = type(of: tool).timeLimit
        let triesAgain = type(of: tool).triesAgain
        var terms = AgentTerms(context, options) { triesAgain && ToolRefusal(context)?.isThere == true }
        terms.mustKeep = !type(of: tool).storesWhatWorked
        engine = Engine(in: context.surroundings, terms: terms) { [options] in
            var options = options
            if triesAgain, ToolRefusal(context)?.isThere == true { options.isInteractive = false }
            options.timing = DueRenewals.timing(in: context)
            return try Session(context, options: options).sources
        }
    }

    /// Begins, and goes as far as what is stored allows.
    mutating func start() -> Stop { proceed(tool.begin()) }

    /// Runs to the end, and returns the exit status.
    mutating func run() async -> Int32 {
        switch start() {
        case .end(let status): status
        case .needsOthers(let pending): await finish(after: pending)
        }
    }

    /// Waits for others, runs to the end, and returns the exit status.
    func finish(after pending: @escaping @Sendable () async -> Outcome) async -> Int32 {
        var (run, pending) = (self, pending)
        while true {
            let outcome = await pending()
            context.console.endProgress()
            switch run.proceed(run.receive(outcome)) {
            case .end(let status): return status
            case .needsOthers(let next): pending = next
            }
        }
    }

    private mutating func proceed(_ first: Turn) -> Stop {
        var turn = first
        while true {
            if !turn.output.isEmpty { context.console.write(turn.output) }
            if let note = turn.note { context.console.note(Hint(note)) }
            if let complaint = turn.complaint { report(CommandError(complaint, refusal)) }
            switch turn.next {
            case .end(let status): return .end(status)
            case .read:
                guard let bytes = read() else { return .end(ExitStatus.failed.rawValue) }
                turn = tool.receive(.input(bytes))
            case .ask(let question):
                self.question = question
                switch engine.reply(to: question) {
                case .outcome(let outcome): turn = receive(outcome)
                case .later(let pending): return .needsOthers(pending)
                }
            }
        }
    }

    private mutating func receive(_ outcome: Outcome) -> Turn {
        context.requester?.pending.settle()
        switch outcome {
        case .credential(let credential):
            if case .get(let request) = question {
                context.renewals.note(credential, for: request, now: context.now)
            }
            return tool.receive(.credential(credential))
        case .nothing: return tool.receive(.nothing)
        case .list(let list): return tool.receive(list: list)
        case .refused(let refusal) where refusal.isAbstention:
            // The tool continues as if lanyard weren't there, and the user reads the reason.
            context.console.note(CommandError(refusal, in: context))
            return tool.receive(.nothing)
        case .refused(let refusal):
            // Who hung up hasn't declined.
            if refusal.cause == .user, Interrupts.signal == nil { context.requester?.noteDecline(in: context) }
            if type(of: tool).triesAgain { ToolRefusal(context)?.note() }
            let failure = CommandError(refusal, in: context)
            self.refusal = failure
            // A far side doesn't learn what the rule names: it may be a command with a password in it.
            let told =
                context.requester != nil && refusal.isOfSource
                ? CommandError(
                    "no credential could be looked up, for a reason that is shown there", status: failure.status)
                : failure
            return tool.receive(
                .refused(
                    .init(
                        cause: refusal.cause, isFinal: refusal.isFinal, message: told.message.text,
                        remedies: told.hints.map(\.line), status: told.status.rawValue)))
        }
    }

    /// Reports an error, and whose request it was if it came through an agent.
    private func report(_ failure: CommandError) {
        if let requester = context.requester {
            context.console.note("a request from \(requester.forward) failed\(requester.ownName):")
        }
        context.console.report(failure)
    }

    /// Reads from stdin; empty at the end, nil after an error that has been reported.
    private func read() -> [UInt8]? {
        do {
            return try [UInt8](unsafeUninitializedCapacity: 8192) { buffer, count in
                count = try context.input.read(into: UnsafeMutableRawBufferPointer(buffer))
            }
        } catch {
            context.console.report(CommandError("standard input cannot be read"))
            return nil
        }
    }
}
