public import PluginHost
import PluginWire
import Secrets
import Subprocess

/// Tests whether a plugin follows the protocol (docs/plugin-protocol.md), as far as that is possible without its
/// authority.
public struct ConformanceKit: Sendable {
    /// The result of one test.
    public struct Trial: Sendable, Equatable {
        /// The requirement that was tested.
        public let name: String
        /// What the plugin did instead; nil if it passed.
        public let fault: String?
    }

    private static let unstartable = "it could not be started"

    private let plugin: PluginManifest
    private let tryout: Tryout

    /// Creates a kit for a plugin, which runs with the plugin's part of this environment; `patience` limits each test.
    public init(_ plugin: PluginManifest, environment: [String: String], patience: Duration = .seconds(10)) {
        self.plugin = plugin
        tryout = Tryout(plugin: plugin, environment: environment, patience: patience)
    }

    /// Runs all tests; each starts the plugin anew.
    public func run() async -> [Trial] {
        var trials: [Trial] = []
        for (name, trial) in all { trials.append(Trial(name: name, fault: await trial())) }
        return trials
    }

    private var all: [(String, @Sendable () async -> String?)] {
        [
            ("has a manifest of known keys", { self.plugin.notes.first.map { "\($0)" } }),
            ("serves the shared realms that its manifest names", { self.strandedRealm }),
            ("knows the clients that its manifest names", { self.strangeClient }),
            ("describes itself as its manifest does", { await self.describes("operation=describe\n\n") }),
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
            ("does the operations that its manifest names", { await self.refusesOwnOperation }),
            ("survives a memo that isn't its own", { await self.answers(self.strangeMemo) }),
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

    private func describes(_ request: String) async -> String? {
        guard let outcome = await tryout.run(Array(request.utf8)) else { return Self.unstartable }
        if let fault = fault(of: outcome) { return fault }
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
        guard let outcome = await tryout.run(Array(request.utf8)) else { return Self.unstartable }
        return fault(of: outcome) ?? (outcome.answer == nil ? "it gave no answer" : nil)
    }

    /// What is wrong with the answers to requests that should all fail; nil if they do.
    private func fault(inEach operations: [String], _ request: (String) -> String) async -> String? {
        for operation in operations {
            guard let fault = await fails(request(operation)) else { continue }
            return fault == Self.unstartable ? fault : "\(operation): \(fault)"
        }
        return nil
    }

    private func fails(_ request: String, with code: PluginError.Code? = nil) async -> String? {
        guard let outcome = await tryout.run(Array(request.utf8)) else { return Self.unstartable }
        if let fault = fault(of: outcome) { return fault }
        guard let answer = outcome.answer, case .error(let error)? = try? PluginMessage(wire: answer) else {
            return "it gave no error"
        }
        if let code, error.code != code { return "its error is `\((answer["code"] ?? "").displayable(limit: 64))`" }
        return strangeReason(answer)
    }

    /// What is wrong with an operation that the manifest says the plugin does: it doesn't know it.
    private var refusesOwnOperation: String? {
        get async {
            let operations = [
                ("revoke", "refresh_token=x", plugin.revokes), ("register", "client_name=x", plugin.registers),
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
        guard let outcome = await tryout.run([], machine: "lanyard-plugin-v0", closing: true) else {
            return Self.unstartable
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
        guard let outcome = await tryout.run(request, closing: closing) else { return Self.unstartable }
        guard outcome.isAnswered else { return "it did not answer in time" }
        guard outcome.isWellFormed else { return "it wrote something other than a block to standard output" }
        if outcome.answer?["event"] == "result" { return "it gave a result" }
        guard let ended = outcome.ended else { return "it did not exit" }
        if case .signaled = ended { return "it \(ended.words)" }
        return nil
    }

    /// Returns a complaint that applies to any answer; nil if there is none.
    private func fault(of outcome: Tryout.Outcome) -> String? {
        guard outcome.isAnswered else { return "it did not answer in time" }
        guard outcome.isWellFormed else { return "it wrote something other than a block to standard output" }
        if let fault = outcome.brokenMessage { return "it sent a broken message, with \(fault.text)" }
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
