import Addresses
public import PluginHost
import PluginWire
import Secrets
import SettingsFile
import Subprocess
import Synchronization

/// Tests whether a plugin follows the protocol (docs/plugin-protocol.md), as far as that is possible without its
/// authority.
public struct ConformanceKit: Sendable {
    /// The result of one test.
    public struct Trial: Sendable, Equatable {
        /// The requirement that was tested.
        public let name: String
        /// What the plugin did instead; nil if it passed.
        public let fault: String?
        /// What it was asked, how it ended and what it wrote to standard error; empty if it passed, or wasn't run.
        public var evidence: [String] = []
    }

    let plugin: PluginManifest
    private let tryout: Tryout
    private let last = Last()

    /// The last run of the plugin in a trial.
    private final class Last: Sendable {
        let outcome = Mutex<Tryout.Outcome?>(nil)
    }

    /// Creates a kit for a plugin.
    ///
    /// - Parameters:
    ///   - plugin: The plugin.
    ///   - environment: The variables, of which it gets a plugin's part; no desktop is in it.
    ///   - seclusion: What keeps it off the network; nil if nothing but the requests does.
    ///   - patience: How long each test may take.
    public init(
        _ plugin: PluginManifest, environment: [String: String], seclusion: Seclusion? = nil,
        patience: Duration = .seconds(10)
    ) {
        self.plugin = plugin
        let desktop = ["DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"]
        tryout = Tryout(
            plugin: plugin, environment: environment.filter { !desktop.contains($0.key) }, seclusion: seclusion,
            patience: patience)
    }

    /// Runs all tests, each of which starts the plugin anew; only the first ones if it can't be run or doesn't answer.
    public func run() async -> [Trial] {
        var trials: [Trial] = []
        for (name, trial) in all {
            last.outcome.withLock { $0 = nil }
            let fault = await trial()
            let outcome = last.outcome.withLock { $0 }
            trials.append(Trial(name: name, fault: fault, evidence: fault == nil ? [] : outcome?.evidence ?? []))
            if name == Self.basic, fault != nil, outcome?.isAnswered != true { break }
        }
        return trials
    }

    private static let basic = "describes itself as its manifest does"

    /// Runs the plugin with a request.
    private func run(
        _ request: String, machine: String = PluginProtocol.stateMachine, closing: Bool = false, replying: String? = nil
    ) async -> Tryout.Outcome {
        await run(Array(request.utf8), machine: machine, closing: closing, replying: replying)
    }

    private func run(
        _ request: [UInt8], machine: String = PluginProtocol.stateMachine, closing: Bool = false,
        replying: String? = nil
    ) async -> Tryout.Outcome {
        let outcome = await tryout.run(request, machine: machine, closing: closing, replying: replying)
        last.outcome.withLock { $0 = outcome }
        return outcome
    }

    private var all: [(String, @Sendable () async -> String?)] { first + supported + further }

    private var first: [(String, @Sendable () async -> String?)] {
        [
            ("has a manifest of known keys and flows", { self.plugin.strangeParts }),
            ("serves the shared realms that its manifest names", { self.plugin.strandedRealm }),
            ("knows the clients that its manifest names", { self.plugin.strangeClient }),
            ("serves something", { self.plugin.servesNothing }),
            (Self.basic, { await self.describes("operation=describe\n\n") }),
            (
                "ignores keys that it doesn't know",
                { await self.describes("x_grease=1\noperation=describe\ngrease[]=a\ngrease[]=\ngrease_2=ü=\n\n") }
            ),
            (
                "answers an operation that it doesn't know with unsupported",
                { await self.fails("operation=\(self.strangeName)\n\n", with: [.unsupported]) }
            ),
            ("answers a request that lacks its keys with invalid-request", { await self.overlooksMissingKeys }),
            ("ends cleanly if nothing can be shown", { await self.insists(against: "unsupported") }),
            ("ends cleanly if the user refuses", { await self.insists(against: "cancelled") }),
            ("signs in by no other flow than those that it is asked for", { await self.usesOtherFlow }),
        ]
    }

    private var further: [(String, @Sendable () async -> String?)] {
        [
            ("survives a memo that isn't its own", { await self.answers(self.strangeMemo) }),
            (
                "answers a source that it doesn't know with unsupported",
                {
                    await self.fails(
                        "operation=lookup\nsource=\(self.strangeName)\nhost=git.example\n\n", with: [.unsupported])
                }
            ),
            ("answers a probe of no authority with an error", { await self.fails("operation=probe\n\n") }),
            (
                "answers a request for a token that another program holds with an error, if it names no authority",
                { await self.fails("operation=silent\n\n") }
            ),
            (
                "answers an identity of a kind that it doesn't know with unsupported",
                { await self.fails(self.strangeIdentity, with: [.unsupported]) }
            ),
            (
                "answers a source of assertions that it doesn't know with unsupported",
                {
                    self.plugin.identities.contains(.client)
                        ? await self.fails(self.strangeSource, with: [.unsupported]) : nil
                }
            ),
            (
                "answers an exchange that it doesn't know with unsupported",
                { await self.fails(self.strangeExchange, with: [.unsupported]) }
            ),
            (
                "refuses tokens for an identity or an exchange that the request doesn't name",
                { await self.fault(inEach: ["authenticate", "exchange"]) }
            ),
            ("refuses a state machine that it doesn't know with status 64", { await self.refusesOtherMachines() }),
            ("survives a line that is not key=value", { await self.survives("operation\n\n") }),
            ("survives bytes that are not UTF-8", { await self.survives([0xFF, 0xFE, 0x00, 0x0A, 0x0A]) }),
            (
                "survives a line of 70,000 bytes",
                { await self.survives("operation=" + String(repeating: "a", count: 70_000) + "\n\n") }
            ),
            ("ends if the host goes away before the request", { await self.survives("", closing: true) }),
            (
                "ends if the host goes away within the request",
                { await self.survives("operation=desc", closing: true) }
            ),
        ]
    }

    private var strangeIdentity: String {
        "operation=authenticate\nauthority=https://id.example/x\nclient_id=x\nidentity=\(strangeName)\nscope[]=x\n\n"
    }

    private var strangeSource: String {
        "operation=authenticate\nauthority=https://id.example/x\nclient_id=x\nidentity=client\nassertion=\(strangeName)\n"
            + "scope[]=x\n\n"
    }

    /// A place where nobody answers, at once and without a network.
    static let nowhere = "authority=https://127.0.0.1:1/x\nclient_id=x\n"

    private var strangeMemo: String { "operation=probe\n\(Self.nowhere)memo={\"\(strangeName)\n\n" }

    private var strangeExchange: String {
        "operation=exchange\nauthority=https://id.example/x\nclient_id=x\nexchange=\(strangeName)\n"
            + "audience=id.example\naccess_token=x\n\n"
    }

    /// A random name that nothing has.
    var strangeName: String { "x-\(UInt32.random(in: 0 ... .max))" }

    // MARK: Answers

    /// Runs a request, and says what is wrong with any answer, or with this one.
    func outcome(
        of request: String, replying: String? = nil, _ fault: (Tryout.Outcome) -> String?
    ) async -> String? {
        let outcome = await run(request, replying: replying)
        return self.fault(of: outcome) ?? fault(outcome)
    }

    private func describes(_ request: String) async -> String? {
        await outcome(of: request) { describes($0) }
    }

    private func describes(_ outcome: Tryout.Outcome) -> String? {
        guard let answer = outcome.answer, answer["event"] == "result" else { return "it gave no result" }
        let said: PluginDescription
        do throws(ProtocolError) {
            said = try PluginDescription(WireReader(answer))
        } catch {
            return "it gave a result with \(error.text)"
        }
        // A manifest alone has lanyard's own program describe itself.
        let isManifestOnly = plugin.arguments == ["source"] && plugin.executable.hasSuffix("/lanyard-authority")
        guard !isManifestOnly else { return nil }
        guard said.name == plugin.name else { return "it calls itself \(said.name), its manifest \(plugin.name)" }
        guard said.version == plugin.version else {
            return "its version is \(said.version), its manifest's \(plugin.version)"
        }
        guard said.protocols.contains(PluginProtocol.version) else { return "it does not name the protocol v1" }
        let named = [
            ("flow[]", Set(said.flows) == Set(plugin.flows)),
            ("identity[]", Set(said.identities) == Set(plugin.identities)),
            ("exchange[]", Set(said.exchanges) == Set(plugin.exchanges.map(\.name))),
        ]
        return named.first { !$0.1 }.map { "its \($0.0) is not what its manifest names" }
    }

    /// What is wrong with the answer to a request, whether it is a result or an error.
    private func answers(_ request: String) async -> String? {
        await outcome(of: request) { $0.answer == nil ? "it gave no answer" : nil }
    }

    /// What is wrong with the answer to a request without a key that is always there.
    private var overlooksMissingKeys: String? {
        get async {
            // Without it, no request leads there.
            let signsIn = !plugin.authorities.isEmpty
            if signsIn, let fault = await fails("operation=authorize\n\n", with: [.invalidRequest]) {
                return "authorize: \(fault)"
            }
            return await fault(
                inEach: (signsIn ? [] : ["authorize"]) + ["renew", "sign-out"]
                    + (plugin.sources.isEmpty ? [] : ["lookup"]))
        }
    }

    /// What is wrong with the answers to requests for operations without their keys; a plugin needn't know these
    /// operations.
    private func fault(inEach operations: [String]) async -> String? {
        for operation in operations {
            let fault = await fails("operation=\(operation)\n\n", with: [.invalidRequest, .unsupported])
            if let fault { return "\(operation): \(fault)" }
        }
        return nil
    }

    /// What is wrong with the answer to a request that must fail, with one of these codes if there are any.
    private func fails(_ request: String, with codes: [PluginError.Code] = []) async -> String? {
        await outcome(of: request) { outcome in
            guard let answer = outcome.answer, case .error(let error)? = try? PluginMessage(WireReader(answer)) else {
                return "it gave no error"
            }
            guard codes.isEmpty || codes.contains(error.code) else {
                let wanted = codes.map { "`\($0.rawValue)`" }.joined(separator: " or ")
                return "its error is `\((answer["code"] ?? "").displayable(limit: 64))`, not \(wanted)"
            }
            return strangeReason(answer)
        }
    }

    /// Returns a complaint about a reason that the host would ignore, which may be misspelt; nil if there is none.
    private func strangeReason(_ error: Attributes) -> String? {
        error.list("reason[]").first { PluginError.Reason(rawValue: $0) == nil }
            .map { "its error has the unknown reason `\($0.displayable(limit: 64))`" }
    }

    private func refusesOtherMachines() async -> String? {
        let outcome = await run("", machine: "lanyard-plugin-v0", closing: true)
        guard outcome.output.isEmpty else { return "it wrote to standard output" }
        guard let ended = outcome.ended else { return outcome.startFault ?? "it did not exit" }
        if case .exited(64) = ended { return nil }
        return ended.words
    }

    private func survives(_ request: String, closing: Bool = false) async -> String? {
        await survives(Array(request.utf8), closing: closing)
    }

    private func survives(_ request: [UInt8], closing: Bool = false) async -> String? {
        let outcome = await run(request, closing: closing)
        if let fault = outcome.fault { return fault }
        if outcome.answer?["event"] == "result" { return "it gave a result" }
        guard let ended = outcome.ended else { return "it did not exit" }
        if case .signaled = ended { return ended.words }
        return nil
    }

    /// Returns a complaint that applies to any answer; nil if there is none.
    private func fault(of outcome: Tryout.Outcome) -> String? {
        if let fault = outcome.fault { return fault }
        if outcome.output.isEmpty { return "it ended without an answer" }
        guard let ended = outcome.ended else { return "it did not exit after its answer" }
        if case .signaled = ended { return ended.words }
        return nil
    }
}
