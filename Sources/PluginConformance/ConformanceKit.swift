public import PluginHost
import PluginWire
import Secrets
import Subprocess

/// Tries whether a plugin keeps to the protocol (docs/plugin-protocol.md), as far as that shows without its authority.
public struct ConformanceKit: Sendable {
    /// One thing that was tried.
    public struct Trial: Sendable, Equatable {
        /// What a plugin has to do.
        public let name: String
        /// What it did instead; nil if it did it.
        public let fault: String?
    }

    private let plugin: PluginManifest
    private let tryout: Tryout

    /// Makes a kit for a plugin, to be run in what of an environment plugins get; each trial ends with its patience.
    public init(_ plugin: PluginManifest, environment: [String: String], patience: Duration = .seconds(10)) {
        self.plugin = plugin
        tryout = Tryout(plugin: plugin, environment: environment, patience: patience)
    }

    /// Tries everything; the plugin is started for each trial.
    public func run() async -> [Trial] {
        var trials: [Trial] = []
        for (name, trial) in all { trials.append(Trial(name: name, fault: await trial())) }
        return trials
    }

    private var all: [(String, @Sendable () async -> String?)] {
        [
            ("has a manifest of known keys", { self.plugin.notes.first?.description }),
            ("serves the shared realms that its manifest names", { self.strandedRealm }),
            ("knows the clients that its manifest names", { self.strangeClient }),
            ("describes itself as its manifest does", { await self.describes("operation=describe\n\n") }),
            (
                "ignores keys that it doesn't know",
                { await self.describes("x_grease=1\noperation=describe\ngrease[]=a\ngrease[]=\ngrease_2=ü=\n\n") }
            ),
            (
                "answers an operation that it doesn't know with unsupported",
                { await self.fails("operation=\(self.strangeName)\n\n", with: ["unsupported"]) }
            ),
            (
                "answers a request that lacks its keys with an error",
                { await self.fails("operation=renew\n\n", with: nil) }
            ),
            (
                "answers a probe of no authority with an error",
                { await self.fails("operation=probe\n\n", with: nil) }
            ),
            (
                "answers a request for a token that another program holds with an error, if it names no authority",
                { await self.fails("operation=silent\n\n", with: nil) }
            ),
            (
                "answers an identity of a kind that it doesn't know with unsupported",
                { await self.fails(self.strangeIdentity, with: ["unsupported"]) }
            ),
            (
                "answers an exchange that it doesn't know with unsupported",
                { await self.fails(self.strangeExchange, with: ["unsupported"]) }
            ),
            (
                "refuses tokens for an identity or an exchange that the request doesn't name",
                {
                    let identity = await self.fails("operation=authenticate\n\n", with: nil)
                    guard identity == nil else { return identity }
                    return await self.fails("operation=exchange\n\n", with: nil)
                }
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

    private var strangeExchange: String {
        "operation=exchange\nauthority=https://id.example/x\nclient_id=x\nexchange=\(strangeName)\n"
            + "audience=id.example\naccess_token=x\n\n"
    }

    /// A name that nobody gives anything.
    private var strangeName: String { "x-\(UInt32.random(in: 0 ... .max))" }

    /// What is wrong with a shared realm of the manifest's, if an authority of that realm is none of the plugin's.
    private var strandedRealm: String? {
        let stranded = plugin.sharedRealms.first { shared in
            !plugin.authorities.contains { $0.serves(realm: shared.name) }
        }
        return stranded.map { "its [[shared-realm]] \($0.name.displayable(limit: 64)) is in no [[authority]]" }
    }

    /// What is wrong with a client of the manifest's, if people couldn't use it by its name.
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

    private func describes(_ request: String) async -> String? {
        guard let outcome = await tryout.run(Array(request.utf8)) else { return "it could not be started" }
        if let fault = fault(of: outcome) { return fault }
        guard let answer = outcome.answer, answer["event"] == "result" else { return "it gave no result" }
        guard answer["name"] == plugin.name else {
            return
                "it calls itself \((answer["name"] ?? "nothing").displayable(limit: 64)), its manifest \(plugin.name)"
        }
        guard answer["version"] == plugin.version else {
            return
                "its version is \((answer["version"] ?? "none").displayable(limit: 64)), its manifest's \(plugin.version)"
        }
        guard answer.list("protocol[]").contains("v1") else { return "it does not name the protocol v1" }
        let named = [
            ("flow[]", plugin.flows.map(\.rawValue)), ("identity[]", plugin.identities.map(\.rawValue)),
            ("exchange[]", plugin.exchanges.map(\.name)),
        ]
        let other = named.first { Set(answer.list($0.0)) != Set($0.1) }
        return other.map { "its \($0.0) is not what its manifest names" }
    }

    private func fails(_ request: String, with codes: [String]?) async -> String? {
        guard let outcome = await tryout.run(Array(request.utf8)) else { return "it could not be started" }
        if let fault = fault(of: outcome) { return fault }
        guard let answer = outcome.answer, answer["event"] == "error" else { return "it gave no error" }
        let code = answer["code"] ?? ""
        guard let codes else { return code.isEmpty ? "its error has no code" : strangeReason(answer) }
        return codes.contains(code) ? strangeReason(answer) : "its error is `\(code.displayable(limit: 64))`"
    }

    /// A reason that the host would ignore; it may be misspelt.
    private func strangeReason(_ error: Attributes) -> String? {
        error.list("reason[]").first { PluginError.Reason(rawValue: $0) == nil }
            .map { "its error has the unknown reason `\($0.displayable(limit: 64))`" }
    }

    private func refusesOtherMachines() async -> String? {
        guard let outcome = await tryout.run([], machine: "lanyard-plugin-v0", closing: true) else {
            return "it could not be started"
        }
        guard outcome.output.isEmpty else { return "it wrote to standard output" }
        guard let ended = outcome.ended else { return "it did not exit" }
        if case .exited(64) = ended { return nil }
        return "it \(ended.words)"
    }

    private func survives(_ request: String, closing: Bool = false) async -> String? {
        await survives(Array(request.utf8), closing: closing)
    }

    private func survives(_ request: [UInt8], closing: Bool = false) async -> String? {
        guard let outcome = await tryout.run(request, closing: closing) else { return "it could not be started" }
        guard outcome.isAnswered else { return "it did not answer in time" }
        guard outcome.isWellFormed else { return "it wrote something other than a block to standard output" }
        if outcome.answer?["event"] == "result" { return "it gave a result" }
        guard let ended = outcome.ended else { return "it did not exit" }
        if case .signaled = ended { return "it \(ended.words)" }
        return nil
    }

    /// What is wrong with an answer whatever it says.
    private func fault(of outcome: Tryout.Outcome) -> String? {
        guard outcome.isAnswered else { return "it did not answer in time" }
        guard outcome.isWellFormed else { return "it wrote something other than a block to standard output" }
        guard let ended = outcome.ended else { return "it did not exit after its answer" }
        if case .signaled = ended { return "it \(ended.words)" }
        return nil
    }
}

extension TerminationStatus {
    fileprivate var words: String {
        switch self {
        case .exited(let code): "exited with status \(code)"
        case .signaled(let signal): "was killed by signal \(signal)"
        }
    }
}
