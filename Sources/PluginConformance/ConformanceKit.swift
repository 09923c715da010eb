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

    private let plugin: PluginManifest
    private let tryout: Tryout
    private let last = Last()

    /// The last run of the plugin in a trial.
    private final class Last: Sendable {
        let outcome = Mutex<Tryout.Outcome?>(nil)
    }

    /// Creates a kit for a plugin, which runs with the plugin's part of this environment; `patience` limits each test.
    public init(_ plugin: PluginManifest, environment: [String: String], patience: Duration = .seconds(10)) {
        self.plugin = plugin
        tryout = Tryout(plugin: plugin, environment: environment, patience: patience)
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
            ("has a manifest of known keys", { self.strangeKey }),
            ("serves the shared realms that its manifest names", { self.strandedRealm }),
            ("knows the clients that its manifest names", { self.strangeClient }),
            ("serves something", { self.servesNothing }),
            (Self.basic, { await self.describes("operation=describe\n\n") }),
            (
                "ignores keys that it doesn't know",
                { await self.describes("x_grease=1\noperation=describe\ngrease[]=a\ngrease[]=\ngrease_2=ü=\n\n") }
            ),
            (
                "answers an operation that it doesn't know with unsupported",
                { await self.fails("operation=\(self.strangeName)\n\n", with: .unsupported) }
            ),
            (
                "answers a request that lacks its keys with an error",
                { await self.fault(inEach: ["renew", "authorize", "sign-out"]) { "operation=\($0)\n\n" } }
            ),
            ("takes no for an answer if nothing can be shown", { await self.insists(against: "unsupported") }),
            ("takes no for an answer if the user refuses", { await self.insists(against: "cancelled") }),
            ("signs in by no other flow than those that it is asked for", { await self.usesOtherFlow }),
            ("does the operations that its manifest names", { await self.refusesOwnOperation }),
        ]
    }

    /// A trial for each word of `supports` that a sign-in can ask for.
    private var supported: [(String, @Sendable () async -> String?)] {
        plugin.supports.sorted { $0.rawValue < $1.rawValue }.compactMap { word in
            asking(for: word).map { keys in ("supports \(word.rawValue)", { await self.ignores(word, keys) }) }
        }
    }

    private var further: [(String, @Sendable () async -> String?)] {
        [
            ("survives a memo that isn't its own", { await self.answers(self.strangeMemo) }),
            (
                "answers a source that it doesn't know with unsupported",
                {
                    await self.fails(
                        "operation=lookup\nsource=\(self.strangeName)\nhost=git.example\n\n", with: .unsupported)
                }
            ),
            ("answers a probe of no authority with an error", { await self.fails("operation=probe\n\n") }),
            (
                "answers a request for a token that another program holds with an error, if it names no authority",
                { await self.fails("operation=silent\n\n") }
            ),
            (
                "answers an identity of a kind that it doesn't know with unsupported",
                { await self.fails(self.strangeIdentity, with: .unsupported) }
            ),
            (
                "answers a source of assertions that it doesn't know with unsupported",
                {
                    self.plugin.identities.contains(.client)
                        ? await self.fails(self.strangeSource, with: .unsupported) : nil
                }
            ),
            (
                "answers an exchange that it doesn't know with unsupported",
                { await self.fails(self.strangeExchange, with: .unsupported) }
            ),
            (
                "refuses tokens for an identity or an exchange that the request doesn't name",
                { await self.fault(inEach: ["authenticate", "exchange"]) { "operation=\($0)\n\n" } }
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
    private static let nowhere = "authority=https://127.0.0.1:1/x\nclient_id=x\n"

    private var strangeMemo: String { "operation=probe\n\(Self.nowhere)memo={\"\(strangeName)\n\n" }

    private var strangeExchange: String {
        "operation=exchange\nauthority=https://id.example/x\nclient_id=x\nexchange=\(strangeName)\n"
            + "audience=id.example\naccess_token=x\n\n"
    }

    /// A random name that nothing has.
    private var strangeName: String { "x-\(UInt32.random(in: 0 ... .max))" }

    /// The first key or flow of the manifest that lanyard doesn't know.
    private var strangeKey: String? {
        if let note = plugin.notes.first { return "\(note)\(note.hint.map { " (\($0))" } ?? "")" }
        let known: [PluginRequest.Flow] = [.browser, .deviceCode, .paste, .broker]
        return plugin.flows.first { !known.contains($0) }.map {
            "its manifest has the unknown flow \($0.rawValue); there are \(known.map(\.rawValue).joined(separator: ", "))"
        }
    }

    /// The problem with a shared realm of the manifest, if the plugin doesn't serve an authority with that realm.
    private var strandedRealm: String? {
        let stranded = plugin.sharedRealms.first { shared in
            !plugin.authorities.contains { $0.serves(realm: shared.name) }
        }
        return stranded.map { "its [[shared-realm]] \($0.name.displayable(limit: 64)) is in no [[authority]]" }
    }

    /// The problem with a client of the manifest, if users couldn't refer to it by its name.
    private var strangeClient: String? {
        for client in plugin.clients {
            let name = "its [[client]] \(client.name)"
            if plugin.clients.count(where: { $0.name == client.name }) > 1 { return "\(name) is there twice" }
            if plugin.clientIDs?.accepts(client.id) == false {
                return "\(name) has an id that is none of its client-ids"
            }
            guard Set(client.flows).isSubset(of: plugin.flows) else {
                return "\(name) has flows that the plugin has not"
            }
        }
        return nil
    }

    /// The problem with a manifest that no request leads to.
    private var servesNothing: String? {
        let isOfUse =
            !plugin.authorities.isEmpty || !plugin.brokered.isEmpty || !plugin.identities.isEmpty
            || !plugin.exchanges.isEmpty || !plugin.sources.isEmpty
        return isOfUse
            ? nil
            : "its manifest has no [[authority]], [[source]] or [[exchange]], and no identities, so no request ever leads to it"
    }

    // MARK: Signing in

    /// A sign-in at the first authority of the manifest; nil if it has none.
    ///
    /// The proxy keeps it away from the network.
    private func signIn(_ further: String = "") -> String? {
        guard let pattern = plugin.authorities.first else { return nil }
        let flows = plugin.flows.isEmpty ? "" : plugin.flows.map { "flow[]=\($0.rawValue)\n" }.joined()
        return "operation=authorize\nauthority=\(pattern.sample)\nclient_id=lanyard-plugin-check\nscope[]=x\n\(flows)"
            + "proxy=http://127.0.0.1:1\n\(further)\n"
    }

    /// What is wrong with a sign-in in which every question is answered like this.
    private func insists(against status: String) async -> String? {
        guard let request = signIn() else { return nil }
        return await outcome(of: request, replying: status) { outcome in
            guard let answer = outcome.answer else { return "it gave no answer" }
            let asked = outcome.blocks.compactMap { $0["event"] }.filter(Self.isQuestion)
            guard let last = asked.last else { return nil }
            if answer["event"] == "result" {
                return "it gave a result although `\(last)` was replied to with \(status)"
            }
            guard status == "cancelled", let code = answer["code"], code != status else { return nil }
            return "its error is `\(code.displayable(limit: 64))` after `\(last)` was replied to with cancelled"
        }
    }

    private static func isQuestion(_ event: String) -> Bool { !["progress", "result", "error"].contains(event) }

    /// What is wrong with a sign-in by a flow that nothing has.
    private var usesOtherFlow: String? {
        get async {
            guard !plugin.flows.isEmpty, let pattern = plugin.authorities.first else { return nil }
            let request =
                "operation=authorize\nauthority=\(pattern.sample)\nclient_id=lanyard-plugin-check\nscope[]=x\n"
                + "flow[]=\(strangeName)\nproxy=http://127.0.0.1:1\n\n"
            return await outcome(of: request, replying: "cancelled") { outcome in
                if let event = outcome.blocks.compactMap({ $0["event"] }).first(where: Self.isQuestion) {
                    return "it went on with `\(event)`, although no flow that it has was asked for"
                }
                return outcome.answer?["event"] == "result" ? "it gave a result" : nil
            }
        }
    }

    /// The keys of a request that asks for what a plugin supports; nil for what other trials ask for.
    private func asking(for word: PluginSupport) -> String? {
        switch word {
        case .prompt: "prompt=login\n"
        case .claims: "claims={\"id_token\":{\"auth_time\":{\"essential\":true}}}\n"
        case .queryParameters: "query_parameter[]=x_lanyard_check=1\n"
        case .resources: "resource[]=https://api.example\n"
        case .redirectURI: "redirect_uri=http://127.0.0.1:8400\n"
        case .alsoConsent: "also_consent=https://api.example/.default\n"
        case .resetPolicy, .tokenExchange, .clientSecrets, .register, .revoke: nil
        }
    }

    /// What is wrong with a sign-in that asks for what the manifest supports: the answer is `unsupported`, or it isn't in
    /// the page's URL.
    private func ignores(_ word: PluginSupport, _ keys: String) async -> String? {
        guard let request = signIn(keys) else { return nil }
        return await outcome(of: request, replying: "cancelled") { outcome in
            if outcome.answer?["code"] == "unsupported" {
                return "its manifest names it, but its error is `unsupported`"
            }
            let page = outcome.blocks.first { $0["event"] == "open-url" }?["url"]
            let name = ["query-parameters": "x_lanyard_check=1", "prompt": "prompt=login"][word.rawValue]
            // A pushed request (RFC 9126) has its parameters elsewhere.
            guard let page, let name, !page.hasBytes("request_uri="), !page.hasBytes(name) else { return nil }
            return "its page has no \(name)"
        }
    }

    /// Runs a request, and says what is wrong with any answer, or with this one.
    private func outcome(
        of request: String, replying: String? = nil, _ fault: (Tryout.Outcome) -> String?
    ) async -> String? {
        let outcome = await run(request, replying: replying)
        return self.fault(of: outcome) ?? fault(outcome)
    }

    // MARK: Answers

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

    /// What is wrong with the answers to requests that should all fail; nil if they do.
    private func fault(inEach operations: [String], _ request: (String) -> String) async -> String? {
        for operation in operations {
            if let fault = await fails(request(operation)) { return "\(operation): \(fault)" }
        }
        return nil
    }

    private func fails(_ request: String, with code: PluginError.Code? = nil) async -> String? {
        await outcome(of: request) { outcome in
            guard let answer = outcome.answer, case .error(let error)? = try? PluginMessage(WireReader(answer)) else {
                return "it gave no error"
            }
            if let code, error.code != code {
                return "its error is `\((answer["code"] ?? "").displayable(limit: 64))`, not `\(code.rawValue)`"
            }
            return strangeReason(answer)
        }
    }

    /// What is wrong with an operation that the manifest says the plugin does: it doesn't know it.
    private var refusesOwnOperation: String? {
        get async {
            let operations = [
                ("revoke", "refresh_token=x", plugin.supports.contains(.revoke)),
                ("register", "client_name=x", plugin.supports.contains(.register)),
            ]
            for (operation, key, _) in operations.filter(\.2) {
                let request = "operation=\(operation)\n\(Self.nowhere)\(key)\n\n"
                if let fault = await answers(request) { return fault }
                if await fails(request, with: .unsupported) == nil { return "it answers \(operation) with unsupported" }
            }
            return nil
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

extension AuthorityPattern {
    /// A URL that the pattern serves.
    fileprivate var sample: String {
        let host = hosts.first { !$0.isSame(as: "*") }?.replacing(bytes: "*", with: "x") ?? "id.invalid"
        let segments = path.compactMap { segment in
            switch segment {
            case .literal(let text): text
            case .realm: realms.first ?? "x"
            case .policy(let glob): glob?.replacing(bytes: "*", with: "x") ?? "x"
            case .rest: nil
            }
        }
        return (["https://\(host)"] + segments).joined(separator: "/")
    }
}
