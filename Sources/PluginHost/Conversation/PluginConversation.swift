import PluginWire
import Secrets

/// Runs one conversation; all events arrive in one stream, so that nothing blocks anything else.
struct PluginConversation {
    enum Occurrence: Sendable {
        case output([UInt8])
        case outputEnded
        case answered(event: Int, PluginReply)
        case deadline(Int)
        case overdue
        case settled
        case interrupted
    }

    /// The time limits that depend on the operation.
    struct Bounds {
        let operation: PluginRequest.Operation
        let timeouts: PluginTimeouts
        /// The program that the plugin runs, and may have to wait for.
        var program: String?
        /// The request's flows; empty for any.
        var flows: [PluginRequest.Flow] = []

        var hasUser: Bool { [.authorize, .signOut, .lookup].contains(operation) }
        var total: Duration {
            switch operation {
            case .authorize, .signOut, .lookup: timeouts.conversation
            // A machine's platform may take more than a minute to start.
            case .authenticate: timeouts.silence * 2
            // The user is waiting, but doesn't depend on the result.
            case .probe, .revoke, .unregister: timeouts.probe
            case .renew, .silent, .register, .exchange, .describe: timeouts.silence
            }
        }
    }

    private let plugin: String
    private let bounds: Bounds
    private let user: any UserInterface
    private let occurrences: AsyncStream<Occurrence>
    private let occur: AsyncStream<Occurrence>.Continuation
    private let outgoing: AsyncStream<Attributes>.Continuation
    private let trace: PluginTrace?
    private let secrets: KnownSecrets

    private var state: ConversationState
    private var waiting: [(id: Int, event: PluginEvent)] = []
    private var lastID = 0
    /// Whether the plugin has reason to be silent: the user is looking at a page that it opened, or typing.
    private var userIsBusy = false
    private var asking: Task<Void, Never>?
    private var timer: Task<Void, Never>?
    private var timerID = 0

    init(
        plugin: String, bounds: Bounds, user: any UserInterface,
        occurrences: (stream: AsyncStream<Occurrence>, continuation: AsyncStream<Occurrence>.Continuation),
        outgoing: AsyncStream<Attributes>.Continuation, trace: PluginTrace?, secrets: KnownSecrets
    ) {
        self.plugin = plugin
        self.bounds = bounds
        self.user = user
        self.occurrences = occurrences.stream
        occur = occurrences.continuation
        self.outgoing = outgoing
        self.trace = trace
        self.secrets = secrets
        state = ConversationState(plugin: plugin)
        // A program that the plugin starts may ask the user in a way of its own.
        userIsBusy = bounds.operation == .lookup
    }

    /// Handles events until the conversation is over; nil if the plugin's output ended without an answer.
    ///
    /// When this returns, the user interface has been told to stop, and nothing of it is left on the screen.
    mutating func run() async -> ConversationState.Ending? {
        let ending = await serve()
        await asking?.value
        return ending
    }

    private mutating func serve() async -> ConversationState.Ending? {
        let overdue = timer(bounds.total, .overdue)
        restartTimer()
        defer {
            overdue.cancel()
            timer?.cancel()
            asking?.cancel()
            outgoing.finish()
        }
        for await occurrence in occurrences {
            if let ending = await handle(occurrence) { return await awaitExit(after: ending) }
            if case .outputEnded = occurrence { return nil }
        }
        return .failed(.interrupted)
    }

    private mutating func handle(_ occurrence: Occurrence) async -> ConversationState.Ending? {
        switch occurrence {
        case .output(let bytes):
            // Only whole messages break the silence: with a byte now and then, a plugin could have all the time it likes.
            let (ending, isMessage) = await receive(bytes)
            if isMessage { restartTimer() }
            return ending
        case .outputEnded:
            if case .end(let ending)? = state.finish() { return ending }
            return state.end
        case .answered(let id, let reply):
            answer(id, reply)
            restartTimer()
            return nil
        case .deadline(let id): return id == timerID ? .failed(silenceError) : nil
        case .overdue: return .failed(overdueError)
        case .interrupted: return .failed(.interrupted)
        case .settled: return nil
        }
    }

    private mutating func receive(_ bytes: [UInt8]) async -> (ending: ConversationState.Ending?, isMessage: Bool) {
        let (lines, steps) = state.receive(bytes)
        for line in lines {
            secrets.learn(line: line)
            trace?(.fromPlugin, TraceMask.line(line, hiding: secrets))
        }
        for step in steps {
            switch step {
            case .reply(let block): send(block)
            case .progress(let text):
                userIsBusy = !waiting.isEmpty
                await user.progress(secrets.masked(text))
            case .ask(let event): ask(event)
            case .note(let text): trace?(.note, secrets.masked(text))
            case .end: break
            }
        }
        return (state.end, steps.contains(where: \.isMessage))
    }

    /// Waits for the plugin to exit after its answer; any further output turns the answer into an error.
    private mutating func awaitExit(after ending: ConversationState.Ending) async -> ConversationState.Ending {
        asking?.cancel()
        timer?.cancel()
        outgoing.finish()
        guard case .result = ending else { return ending }
        let settled = timer(bounds.timeouts.exit, .settled)
        defer { settled.cancel() }
        for await occurrence in occurrences {
            switch occurrence {
            case .output(let bytes): _ = await receive(bytes)
            case .outputEnded:
                _ = state.finish()
                return state.end ?? ending
            case .settled: return state.end ?? ending
            case .interrupted: return .failed(.interrupted)
            case .answered, .deadline, .overdue: break
            }
        }
        return state.end ?? ending
    }

    // MARK: The user

    /// Queues an event for the user; it replaces one that is still shown, because the plugin has moved on.
    private mutating func ask(_ event: PluginEvent) {
        guard bounds.hasUser else { return reply(to: event, .unsupported) }
        guard bounds.flows.isEmpty || event.flows.isEmpty || event.flows.contains(where: bounds.flows.contains) else {
            trace?(.note, "its `\(event.name)` is of no flow in the request's `flow[]`, replied `unsupported`")
            return reply(to: event, .unsupported)
        }
        lastID += 1
        userIsBusy = true
        waiting.append((lastID, event))
        if waiting.count == 1 { start() } else { asking?.cancel() }
    }

    private mutating func start() {
        guard let next = waiting.first else { return }
        asking = Task { [user, occur] in
            let reply = await user.answer(next.event)
            occur.yield(.answered(event: next.id, reply))
        }
    }

    private mutating func answer(_ id: Int, _ reply: PluginReply) {
        guard let first = waiting.first, first.id == id else { return }
        waiting.removeFirst()
        userIsBusy =
            !waiting.isEmpty || (reply == .done && !first.event.isPrompt) || bounds.operation == .lookup
        self.reply(to: first.event, waiting.isEmpty ? reply : .cancelled)
        start()
    }

    private func reply(to event: PluginEvent, _ reply: PluginReply) {
        // A pasted text may not fit on a line; then it is treated as no answer.
        let block = (try? reply.wire(to: event.name)) ?? (try? PluginReply.unsupported.wire(to: event.name))
        if let block { send(block) }
    }

    private func send(_ block: Attributes) {
        show(.toPlugin, block)
        outgoing.yield(block)
    }

    private func show(_ direction: PluginTraceDirection, _ block: Attributes) {
        secrets.learn(block)
        guard let trace else { return }
        for line in TraceMask.lines(of: block, hiding: secrets) + [""] { trace(direction, line) }
    }

    // MARK: Time

    private mutating func restartTimer() {
        timer?.cancel()
        timerID += 1
        timer = timer(userIsBusy ? bounds.timeouts.user : bounds.timeouts.silence, .deadline(timerID))
    }

    private func timer(_ duration: Duration, _ occurrence: Occurrence) -> Task<Void, Never> {
        Task { [occur] in
            guard (try? await Task.sleep(for: duration)) != nil else { return }
            occur.yield(occurrence)
        }
    }

    private var silenceError: PluginError {
        guard userIsBusy else { return timeoutError(bounds.timeouts.silence) }
        // Nothing was asked here: a program of the plugin's hangs, or asks in vain.
        if bounds.operation == .lookup, waiting.isEmpty { return timeoutError(bounds.timeouts.user) }
        var error = PluginError(
            .cancelled, "nobody signed in within \(bounds.timeouts.user.words)", hint: "try again when you are there")
        error.isTimeout = true
        return error
    }

    private var overdueError: PluginError {
        bounds.hasUser
            ? PluginError(.cancelled, "the sign-in was not done within \(bounds.total.words)", hint: "try again")
            : timeoutError(bounds.total)
    }

    private func timeoutError(_ limit: Duration) -> PluginError {
        if let program = bounds.program, state.output.isEmpty || state.output.rest == nil {
            return PluginError(
                .unavailable, "\(program.displayable(limit: 100)) did not end within \(limit.words)",
                hint: "run it yourself to see what it waits for")
        }
        let silence = state.output.isEmpty ? "and wrote nothing" : state.output.rest
        return PluginError(
            .unavailable, "the \(plugin) plugin did not answer within \(limit.words)\(silence.map { ", \($0)" } ?? "")",
            hint: state.output.isEmpty || state.output.rest == nil
                ? "check the network, or run with LANYARD_TRACE=plugin; a plugin must flush what it writes"
                : PluginError.traceHint)
    }
}

extension PluginEvent {
    fileprivate var isPrompt: Bool {
        if case .prompt = self { true } else { false }
    }
}

extension Duration {
    /// The duration in words: in minutes if it is a whole number of them, else in seconds.
    fileprivate var words: String {
        let seconds = components.seconds
        if seconds >= 60, seconds % 60 == 0 { return seconds == 60 ? "a minute" : "\(seconds / 60) minutes" }
        return seconds == 1 ? "a second" : "\(seconds) seconds"
    }
}

/// The host's state in one conversation; it interprets the plugin's messages without any input or output.
struct ConversationState {
    /// The host's reaction to a message.
    enum Step: Equatable {
        /// Write this reply.
        case reply(Attributes)
        /// Show this event to the user, and reply with the answer.
        case ask(PluginEvent)
        /// Show this message to the user.
        case progress(String)
        /// Say this to whoever traces the conversation.
        case note(String)
        /// End the conversation.
        case end(Ending)

        /// Whether it comes of a whole message.
        var isMessage: Bool { if case .note = self { false } else { true } }
    }

    enum Ending: Equatable {
        /// The plugin's result, not yet parsed.
        case result(Attributes)
        /// The plugin's error, or the host's error about the plugin.
        case failed(PluginError)
    }

    /// The highest number of pages, each of which may start a browser; it allows for forgotten passwords and pasting
    /// mistakes.
    static let mostPages = 10

    private let plugin: String
    private(set) var output = PluginOutput()
    /// What was wrong with the last message, if the host didn't know its event.
    private var unknown: String?
    private var events = 0
    private var pages = 0
    /// How the conversation ended; nil while it continues.
    private(set) var end: Ending?

    init(plugin: String) {
        self.plugin = plugin
    }

    /// Receives bytes from the plugin; returns the complete lines for a trace, and the steps to take.
    mutating func receive(_ bytes: [UInt8]) -> (lines: [String], steps: [Step]) {
        var parts: [PluginOutput.Part] = []
        let fault = output.consume(bytes, into: &parts)
        var lines: [String] = []
        var steps: [Step] = []
        for part in parts {
            switch part {
            case .line(let line): lines.append(line)
            case .block(let block, let line): steps += receive(block, at: line)
            }
        }
        if let fault { steps += broken(by: fault) }
        return (lines, steps)
    }

    /// Returns the steps after bytes that aren't a message; none after an error, like for anything else a plugin sends
    /// then.
    private mutating func broken(by fault: String) -> [Step] {
        if case .failed? = end { return [] }
        return [fail("sent \(fault)")]
    }

    /// Handles the end of the plugin's output.
    ///
    /// A last message without its blank line doesn't count, because the plugin may have died in the middle of it.
    mutating func finish() -> Step? {
        if case .failed? = end { return nil }
        let rest = output.rest
        if output.endsEarly() { return fail("ended in the middle of a message\(rest.map { ": \($0)" } ?? "")") }
        guard end == nil, let unknown else { return nil }
        return fail("ended without an answer: \(unknown)")
    }

    private mutating func receive(_ block: Attributes, at line: Int) -> [Step] {
        events += 1
        switch end {
        case nil: break
        case .result?:
            let event = block["event"].map { "`\($0.displayable(limit: 64))`" } ?? "a message"
            return [fail("sent \(event) (line \(line)) after its answer")]
        case .failed?: return []
        }
        guard events <= PluginProtocol.mostMessages else {
            return [fail("sent more than \(PluginProtocol.mostMessages) messages")]
        }
        let reader = WireReader(block)
        do throws(ProtocolError) {
            let message = try PluginMessage(reader)
            unknown = nil
            return reader.remarks(on: message).map(Step.note) + step(for: message, block)
        } catch {
            let event = block["event"].map { "`\($0.displayable(limit: 64))`" } ?? "message"
            let near = reader.remarks.first.map { "; \($0)" } ?? ""
            return [fail("sent a broken \(event) (line \(line)), with \(error.text)\(near)")]
        }
    }

    private mutating func step(for message: PluginMessage, _ block: Attributes) -> [Step] {
        switch message {
        case .event(.progress(let text)): return [.progress(text)]
        case .event(let event):
            if event.isPage { pages += 1 }
            guard pages <= Self.mostPages else { return [fail("asked for more than \(Self.mostPages) pages")] }
            return [.ask(event)]
        case .unknown(let name):
            let note = PluginOutput.remark(on: name, block)
            unknown = note
            return [.note("\(note), replied `unsupported`")]
                + ((try? PluginReply.unsupported.wire(to: name)).map { [.reply($0)] } ?? [])
        case .result(let block): return [finish(.result(block))]
        case .error(let error): return [finish(.failed(error))]
        }
    }

    private mutating func finish(_ ending: Ending) -> Step {
        end = ending
        return .end(ending)
    }

    private mutating func fail(_ what: String) -> Step { finish(.failed(.broken(plugin, what))) }
}
