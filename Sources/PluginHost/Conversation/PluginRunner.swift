import Addresses
public import PluginWire
import Secrets
public import SettingsFile

/// Runs plugins: starts one for each operation, runs the conversation and validates the answer.
///
/// The plugin gets a scrubbed environment, `/` as its working folder and a session of its own. When a function here
/// returns, its process group is gone; a process that left the group with setsid(2) continues. From the first run on,
/// `SIGPIPE` is ignored. While a plugin runs, SIGINT, SIGTERM, SIGHUP and SIGQUIT stop it and end the run as
/// `cancelled`, unless the host handles or ignores them itself.
public struct PluginRunner: Sendable {
    private let environment: [String: String]
    private var timeouts: PluginTimeouts
    private let memos: PluginMemos?
    private let options: [String: [String: String]]
    private let trace: PluginTrace?

    /// Creates a runner.
    ///
    /// - Parameters:
    ///   - environment: The process's environment, part of which is passed to plugins.
    ///   - timeouts: How long to wait in each situation.
    ///   - memos: The storage for plugins' memos; nil for none.
    ///   - options: The configuration's options for each plugin, by its name.
    ///   - trace: A listener to every line, with secrets masked.
    public init(
        environment: [String: String], timeouts: PluginTimeouts = PluginTimeouts(), memos: PluginMemos? = nil,
        options: [String: [String: String]] = [:], trace: PluginTrace? = nil
    ) {
        self.environment = environment
        self.timeouts = timeouts
        self.memos = memos
        self.options = options
        self.trace = trace
    }

    /// Runs `authorize` or `renew`.
    ///
    /// The result's scopes are those that the plugin reports as granted, which may be more than requested, as with
    /// Entra. Its environment is one of the match's hosts.
    ///
    /// - Parameters:
    ///   - request: The request; its operation is `authorize` or `renew`.
    ///   - match: The plugin and the authority.
    ///   - user: The interface to the user; not used by `renew`.
    /// - Returns: The tokens and the account.
    /// - Throws: The plugin's error, or the host's: `internal` if the plugin broke the protocol, `unavailable` if it
    ///   was silent for too long, `cancelled` if nobody answered, the task was cancelled or a signal arrived.
    public func run(
        _ request: PluginRequest, on match: AuthorityMatch, user: any UserInterface
    ) async throws(PluginError) -> PluginResult {
        try request.require(.authorize, .renew, to: "give tokens")
        let result = try await tokens(request, match.plugin, at: match, user)
        // A renewal is for the account of its refresh token, whatever the plugin or its authority says.
        if request.operation == .renew { try request.require(result, from: match.plugin) }
        return result
    }

    /// Runs `silent`.
    ///
    /// - Parameters:
    ///   - request: The request; its operation is `silent`.
    ///   - plugin: The plugin that gets the authority's tokens from a broker.
    ///   - match: The authority.
    ///   - limit: How long to wait; the caller has other ways to get a token.
    /// - Returns: The token and the account; never a refresh token.
    /// - Throws: The errors of `run`; the user isn't asked.
    public func silent(
        _ request: PluginRequest, by plugin: PluginManifest, at match: AuthorityMatch, within limit: Duration
    ) async throws(PluginError) -> PluginResult {
        try request.require(.silent, to: "get a token from another program")
        // A plugin that doesn't exit has to be killed within that time.
        let limit = max(limit - Self.hastyExit, limit / 2)
        var hasty = self
        hasty.timeouts.silence = limit
        hasty.timeouts.exit = min(timeouts.exit, Self.hastyExit)
        var request = request
        request.timeLimit = max(1, Int(limit / .milliseconds(1)))
        let start = ContinuousClock.now
        do throws(PluginError) {
            let result = try await hasty.tokens(request, plugin, at: match, NobodyThere())
            try request.require(result, from: plugin)
            return result
        } catch {
            var error = error
            // Other processes shouldn't wait for it in vain.
            if error.code == .unavailable, ContinuousClock.now - start >= limit { error.retryAfter = Self.rest }
            throw error
        }
    }

    /// Seconds for which a plugin that ran out of time isn't asked again.
    private static let rest = 60
    /// How long a plugin may take to exit while the caller waits to try the next way.
    private static let hastyExit = Duration.milliseconds(200)

    /// Runs `authorize` of a plugin that gets the authority's tokens from a broker, which asks the user.
    ///
    /// - Returns: The token and the account; never a refresh token.
    /// - Throws: The errors of `run`.
    public func authorize(
        _ request: PluginRequest, by plugin: PluginManifest, at match: AuthorityMatch, user: any UserInterface
    ) async throws(PluginError) -> PluginResult {
        try request.require(.authorize, to: "ask the user")
        var result = try await tokens(request, plugin, at: match, user)
        try request.require(result, from: plugin)
        result.refreshToken = nil
        return result
    }

    /// Runs `authenticate`.
    ///
    /// If there is no authority, as for a machine's own identity, the result is for `localhost`, as in MSAL.
    ///
    /// - Parameters:
    ///   - request: The request; its operation is `authenticate`.
    ///   - plugin: The plugin that serves this kind of identity.
    ///   - match: The authority, if the identity has one.
    /// - Returns: The token, which has neither an account nor a refresh token.
    /// - Throws: The errors of `run`; the user isn't asked.
    public func authenticate(
        _ request: PluginRequest, by plugin: PluginManifest, at match: AuthorityMatch?
    ) async throws(PluginError) -> PluginResult {
        try request.require(.authenticate, to: "authenticate an identity")
        return try await tokens(request, plugin, at: match, NobodyThere())
    }

    /// Runs `exchange`.
    ///
    /// - Parameters:
    ///   - request: The request; its operation is `exchange`.
    ///   - plugin: The plugin whose manifest names the exchange.
    /// - Returns: The credential that the resource accepts.
    /// - Throws: The errors of `run`; the user isn't asked.
    public func exchange(
        _ request: PluginRequest, by plugin: PluginManifest
    ) async throws(PluginError) -> PluginCredential {
        try request.require(.exchange, to: "exchange a token")
        return try await remembering(request, plugin) { request throws(PluginError) in
            let credential = try await ask(request, plugin, reading: PluginCredential.init)
            return (credential, credential.memo)
        }
    }

    /// Runs `lookup`.
    ///
    /// - Parameters:
    ///   - request: The request; its operation is `lookup`.
    ///   - plugin: The plugin whose manifest has the source.
    ///   - user: The interface to the user, whom the plugin or a program of its own may ask.
    ///   - mayAsk: Whether anybody may be there: if so, the plugin has as long as the user.
    /// - Returns: The credential, which nothing keeps.
    /// - Throws: The errors of `run`; `unavailable` if the credential is of another user than the request's.
    public func lookup(
        _ request: PluginRequest, by plugin: PluginManifest, user: any UserInterface, mayAsk: Bool
    ) async throws(PluginError) -> PluginCredential {
        try request.require(.lookup, to: "look up a credential")
        var runner = self
        if !mayAsk { runner.timeouts.user = timeouts.silence }
        let credential = try await runner.ask(request, plugin, user, reading: PluginCredential.init)
        if let lookup = request.lookup, lookup.isFor(anotherThan: credential.username) {
            throw PluginError(
                .unavailable, "\(lookup.entry) in \(lookup.source) is of another user than the URL's",
                hint: "name the user's own entry in the rule, or leave the user name out of the URL")
        }
        return credential
    }

    /// Runs `register`.
    ///
    /// - Parameters:
    ///   - request: The request; its operation is `register`.
    ///   - match: The plugin and the authority.
    /// - Returns: The application as registered at the authority.
    /// - Throws: The errors of `run`; the user isn't asked. `unsupported` if the authority doesn't support
    ///   registration.
    public func register(
        _ request: PluginRequest, on match: AuthorityMatch
    ) async throws(PluginError) -> PluginRegistration {
        try request.require(.register, to: "register an application")
        return try await ask(request, match.plugin, reading: PluginRegistration.init)
    }

    /// Runs `unregister`.
    ///
    /// - Throws: The errors of `run`; the user isn't asked. `unsupported` if the plugin doesn't know the operation.
    public func unregister(_ request: PluginRequest, on match: AuthorityMatch) async throws(PluginError) {
        try request.require(.unregister, to: "take an application back")
        _ = try await result(request, match.plugin)
    }

    /// Runs `probe`.
    ///
    /// - Parameters:
    ///   - request: The request; its operation is `probe`.
    ///   - plugin: The plugin that serves the authority, or the identities without one.
    ///   - limit: The time that it may take; nil for the usual one.
    /// - Returns: The plugin's findings.
    /// - Throws: The errors of `run`; the user isn't asked. `unsupported` if the plugin doesn't know the operation.
    public func probe(
        _ request: PluginRequest, by plugin: PluginManifest, within limit: Duration? = nil
    ) async throws(PluginError) -> PluginProbe {
        try request.require(.probe, to: "probe an authority")
        var brief = self
        if let limit { brief.timeouts.probe = limit }
        return try await brief.ask(request, plugin, reading: PluginProbe.init)
    }

    /// Runs an operation that gives tokens; they are for the authority that was asked about.
    private func tokens(
        _ request: PluginRequest, _ plugin: PluginManifest, at match: AuthorityMatch?, _ user: any UserInterface
    ) async throws(PluginError) -> PluginResult {
        try await remembering(request, plugin) { request throws(PluginError) in
            var result = try await ask(request, plugin, user) { reader throws(ProtocolError) in
                try PluginResult(reader, of: request.operation)
            }
            guard (match?.environmentHosts ?? ["localhost"]).contains(result.environment) else {
                throw .broken(
                    plugin.name,
                    "answered for a different authority than requested: its `environment` is \(result.environment)")
            }
            // Otherwise the account would be nobody's there, and the user would have to sign in again and again.
            if let match, match.isSeparate {
                guard result.realm.withoutCapitals == match.realm else {
                    throw .broken(plugin.name, "answered for another realm than the authority's path")
                }
                result.realm = match.realm
                let homes = result.account?.homeRealms.map(\.withoutCapitals)
                result.account?.homeRealms = homes ?? []
            }
            return (result, result.memo)
        }
    }

    /// Runs an operation with the memo of the last result for its authority, and stores the new memo.
    private func remembering<Value: Sendable>(
        _ request: PluginRequest, _ plugin: PluginManifest,
        _ body: (PluginRequest) async throws(PluginError) -> (Value, PluginMemo?)
    ) async throws(PluginError) -> Value {
        guard let memos, let subject = PluginMemos.subject(of: request, plugin) else {
            return try await body(request).0
        }
        var request = request
        request.memo = memos.read(subject)
        do throws(PluginError) {
            let (value, memo) = try await body(request)
            memos.store(memo, about: subject)
            return value
        } catch {
            if request.memo != nil { memos.discard(after: error, about: subject) }
            throw error
        }
    }

    /// Runs `sign-out`.
    ///
    /// - Throws: The errors of `run`.
    public func signOut(
        _ request: PluginRequest, on match: AuthorityMatch, user: any UserInterface
    ) async throws(PluginError) {
        try request.require(.signOut, to: "sign out")
        _ = try await result(request, match.plugin, user)
    }

    /// Runs `revoke`.
    ///
    /// - Throws: The errors of `run`; the user isn't asked. `unsupported` if the plugin doesn't know the operation.
    public func revoke(_ request: PluginRequest, on match: AuthorityMatch) async throws(PluginError) {
        try request.require(.revoke, to: "revoke")
        _ = try await result(request, match.plugin)
    }

    /// Has a conversation, and returns the plugin's result.
    private func result(
        _ request: PluginRequest, _ plugin: PluginManifest, _ user: any UserInterface = NobodyThere()
    ) async throws(PluginError) -> Attributes {
        if let problem = plugin.problem { throw PluginError(plugin.name, unusable: problem) }
        try plugin.require(supportFor: request)
        var request = request
        request.options = try checkedOptions(of: plugin)
        let asked = request
        let bounds = PluginConversation.Bounds(
            operation: request.operation, timeouts: timeouts, program: request.lookup?.row.program.first,
            flows: request.flows)
        if bounds.hasUser { await user.begin(request) }
        let process = PluginProcess(plugin: plugin, environment: environment, bounds: bounds, trace: trace)
        let ended: Result<ConversationState.Ending, PluginError>
        do throws(PluginError) {
            // git is asked while the plugin starts.
            let outcome = try await process.converse(
                user: user, request: { () async throws(PluginError) in try await block(of: asked, plugin) })
            ended = .success(outcome)
        } catch {
            ended = .failure(error)
        }
        if bounds.hasUser { await user.end() }
        switch try ended.get() {
        case .result(let block): return block
        case .failed(let error): throw error
        }
    }

    /// Returns the configuration's options for a plugin.
    private func checkedOptions(of plugin: PluginManifest) throws(PluginError) -> [String: String] {
        let own = options[plugin.name] ?? [:]
        guard let unknown = own.keys.sorted().first(where: { !plugin.options.contains($0) }) else { return own }
        let near = plugin.options.nearest(to: unknown).map { "did you mean `\($0)`?" }
        let known = plugin.options.isEmpty ? "it has none" : "it has \(plugin.options.joined(separator: ", "))"
        throw PluginError(
            .invalidRequest, "the \(plugin.name) plugin has no option `\(unknown.displayable(limit: 64))`",
            hint: near ?? "see [plugin.\(plugin.name)] in the configuration; \(known)")
    }

    private func block(
        of request: PluginRequest, _ plugin: PluginManifest
    ) async throws(PluginError) -> Attributes {
        let request = await addingNetwork(to: request, plugin)
        do throws(ProtocolError) {
            var block = try request.wire()
            // Plugins learn to ignore keys that they don't know (RFC 8701).
            try block.append("grease_\(Self.randomWord())", Self.randomWord())
            return block
        } catch {
            throw PluginError(.invalidRequest, "the request holds a line break or a value of more than 64 KiB")
        }
    }

    private static func randomWord() -> String {
        String((0..<8).compactMap { _ in "abcdefghijklmnopqrstuvwxyz".randomElement() })
    }

    /// Adds git's settings for the authority, or for the host that a token is exchanged for.
    ///
    /// A plugin that finds identities asks hosts that only it knows, so what counts for all does; a machine's platform is
    /// reached by none.
    private func addingNetwork(to request: PluginRequest, _ plugin: PluginManifest) async -> PluginRequest {
        let host = request.audience ?? (plugin.isFinder ? "localhost" : nil)
        guard let url = request.authority.isEmpty ? host.map({ "https://\($0)" }) : request.authority else {
            return request
        }
        var request = request
        let own = request.network.caFiles
        request.network = await GitNetwork(environment: environment).settings(for: url).network
        request.network.caFiles = own + request.network.caFiles.filter { !own.contains($0) }
        return request
    }

    /// Has a conversation, and reads what the plugin's result says.
    private func ask<Value>(
        _ request: PluginRequest, _ plugin: PluginManifest, _ user: any UserInterface = NobodyThere(),
        reading read: (WireReader) throws(ProtocolError) -> Value
    ) async throws(PluginError) -> Value {
        let reader = WireReader(try await result(request, plugin, user))
        do throws(ProtocolError) {
            let value = try read(reader)
            for note in reader.remarks { trace?(.note, note) }
            return value
        } catch {
            let note = reader.remarks.first.map { "; \($0)" } ?? ""
            throw .broken(plugin.name, "gave a result with \(error.text)\(note)")
        }
    }
}

extension PluginError {
    /// Creates the error for a plugin that can't be used.
    public init(_ plugin: String, unusable problem: SettingsError) {
        self.init(
            .internal, "the \(plugin.displayable(limit: 64)) plugin can't be used: \(problem)",
            hint: "to see what to do: lanyard plugin list")
    }

    /// Returns the error for a plugin that broke the protocol.
    static func broken(_ plugin: String, _ what: String) -> PluginError {
        PluginError(
            .internal, "the \(plugin.displayable(limit: 64)) plugin \(what)",
            hint: traceHint)
    }

    /// The hint of errors about plugins that broke the protocol.
    public static let traceHint = "LANYARD_TRACE=plugin shows the conversation, for the plugin's author"
}

extension PluginRequest {
    /// Refuses a request with another operation than these.
    fileprivate func require(_ operations: Operation..., to act: String) throws(PluginError) {
        guard operations.contains(operation) else {
            throw PluginError(.invalidRequest, "\(operation.rawValue) does not \(act)")
        }
    }

    /// Refuses a result for another account than the requested one.
    fileprivate func require(_ result: PluginResult, from plugin: PluginManifest) throws(PluginError) {
        guard account.map({ $0.lowercased() == result.account?.homeAccountID.lowercased() }) ?? true else {
            throw .broken(plugin.name, "answered for a different account than requested: see its `home_account_id`")
        }
    }
}
