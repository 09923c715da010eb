import Addresses
import AnswerCache
package import CredentialEngine
package import Keyring
package import Model
package import PluginHost
package import PluginWire
package import Rules
import Secrets
import SettingsFile
package import Terminal
package import TokenAcquisition

/// Everything that a command needs once the configuration has been read; it never changes.
///
/// It is a class because most parts of a command hold it: copies of all its fields would take code and memory.
package final class Session: Sendable {
    package enum Scope: Sendable {
        /// The user's configuration, on top of the system's.
        case user
        /// The system's configuration only, as it is for all users; nothing comes from the user who runs the command.
        case system
    }

    package let context: CommandContext
    package let scope: Scope
    package let sources: CredentialSources
    package let store: RecordStore
    /// The secrets of applications.
    package let clientSecrets: ClientSecretStore
    /// The file with the accounts that the user has chosen; nil if the environment has no place for it.
    let selection: SelectionFile?
    package let presence: Presence
    /// The browser; nil if none can or should be used.
    package let browser: Browser?

    /// The plugins, which are only looked for when one is needed; a stored password never needs them.
    package var registry: PluginRegistry { sources.plugins.registry }
    package var configuration: Configuration { sources.configuration }
    package var passwords: PasswordStore { sources.passwords }
    package var acquirer: TokenAcquirer { sources.acquirer }
    /// The tables of the file that a command of this scope changes.
    package var tables: ConfigurationTables { .init(context: context, scope: scope, configuration: configuration) }
    /// The ways to sign in, best first.
    package var flows: [PluginRequest.Flow] { presence.flows(configuration) }

    /// Reads the configuration; starts no plugin.
    ///
    /// If `isToBeWritten`, the user's file may be missing even if `LANYARD_CONFIG` names it.
    ///
    /// - Throws: `CommandError` if the configuration has errors.
    package init(
        _ context: CommandContext, of scope: Scope = .user, options: InteractionOptions.Values = .init(),
        isToBeWritten: Bool = false
    ) throws(CommandError) {
        if let failure = CommandContext.lackOfResources { throw failure }
        self.context = context
        self.scope = scope
        var configuration = try Configuration(context, scope, options, isToBeWritten: isToBeWritten)
        context.use(configuration)
        presence = Presence(
            context, browser: configuration.browser, isInteractive: options.isInteractive,
            isAskedFor: options.isAskedFor)
        browser = presence.hasBrowser ? Browser(context, configured: configuration.browser) : nil
        let isShared = configuration.deviceMode == .shared
        let keyring = KeyringConfiguration(
            context.keyring, group: configuration.group, collection: configuration.keyringCollection,
            mayPrompt: presence.hasDisplay, answers: context.answers)
        store = RecordStore(configuration: keyring)
        clientSecrets = ClientSecretStore(configuration: keyring)
        selection = SelectionFile(environment: context.environment, isShared: isShared, answers: context.answers)
        let plugins = InstalledPlugins(
            environment: scope == .system ? [:] : context.environment, executable: context.executable)
        configuration.caseless = plugins.caseless
        configuration.addRules(knownTo: plugins)
        var services = AcquisitionServices(
            configuration, store: store, plugins: plugins,
            runner: PluginRunner(
                context, options: configuration.pluginOptions, patience: configuration.timeout,
                timeLimit: options.timeLimit,
                KeptMemos(environment: context.environment, isShared: isShared)),
            singleFlight: context.keyring.locks, clock: context.clock)
        services.notes = SharedNotes(runtimeFolderOf: context.environment)
        services.tell = context.tell
        services.clientSecrets = clientSecrets
        services.selection = selection
        services.remembered = RememberedTokens(context.answers)
        services.environment = context.environment
        services.patience = options.timeLimit.map { Double($0) / 2 }
        services.timing = options.timing
        if !options.mayRedeem {
            services.redeemer = DetachedRedeemer(executable: context.executable, console: context.console)
        }
        sources = CredentialSources(
            services, passwords: PasswordStore(configuration: keyring, caseless: plugins.caseless),
            prompter: LocalPrompter(
                context: context, configuration: configuration, presence: presence, browser: browser))
    }

    /// Returns all stored records; at a terminal, it offers to unlock the keyring.
    package func storedRecords(for url: String? = nil) async throws(CommandError) -> StoredRecords {
        try await unlocking(for: url) { () throws(CommandError) in
            try keeping { () throws(KeyringError) in try acquirer.allRecords() }
        }
    }

    /// Resolves a request to the token that it needs; nil if it needs none.
    package func resolve(_ request: CredentialRequest) throws(CommandError) -> TokenRequest? {
        do throws(EngineError) { return try sources.resolve(request) } catch { throw CommandError(error, in: context) }
    }

    /// Gets a token, asking the user if the command allows it and they can be reached.
    ///
    /// `url` is the URL that the token is for, if any; git's configuration may forbid prompts for it.
    ///
    /// - Throws: also if it has several parts, unless `takesFields`.
    package func token(
        for request: TokenRequest, url: String?, takesFields: Bool = false
    ) async throws(CommandError) -> AcquiredToken {
        defer { context.console.endProgress() }
        do throws(EngineError) {
            let token = try await sources.token(for: request, place: url)
            guard takesFields || !token.accessToken.isEmpty else {
                throw .severalParts(token.fields.keys.sorted(), place: url)
            }
            return token
        } catch {
            throw CommandError(error, in: context)
        }
    }

    /// Gets a token from the agent that this machine asks.
    func forwardedToken(
        for request: CredentialRequest, _ options: InteractionOptions.Values
    ) throws(CommandError) -> AcquiredToken {
        let engine = Engine(in: context.surroundings, terms: AgentTerms(context, options)) { [sources] in sources }
        guard case .outcome(let outcome) = engine.reply(to: .get(request)) else {
            throw CommandError(noRuleMaps: request)
        }
        switch outcome {
        case .credential(let credential) where credential.kind == .accessToken:
            return AcquiredToken(
                forwarded: credential.secret, expiresOn: credential.expiresOn, realm: credential.realm ?? "",
                basicUsername: credential.takesBearer ? nil : credential.basicUsername)
        case .refused(let refusal): throw CommandError(refusal, in: context)
        case .credential, .list, .nothing: throw CommandError("on the agent's machine, no rule maps \(request.url)")
        }
    }

    /// Returns the ID token that a client got for a token's account and realm; nil if none is stored.
    package func idToken(of token: AcquiredToken, for clientID: String) throws(CommandError) -> IDTokenRecord? {
        guard let account = token.account else { return nil }
        let records = try keeping { () throws(KeyringError) in try acquirer.allRecords() }
        return records.idTokens.first {
            $0.homeAccountID.lowercased() == account.homeAccountID.lowercased()
                && $0.environment.lowercased() == account.environment.lowercased()
                && $0.realm.lowercased() == token.realm.lowercased() && $0.clientID.clientKey == clientID.clientKey
        }
    }

    /// Signs the user in.
    package func signIn(_ request: TokenRequest, url: String?) async throws(CommandError) -> AcquiredToken {
        guard let user = await sources.prompter.user(for: url) else {
            throw CommandError(nobodyToSignIn: request, url: url)
        }
        defer { context.console.endProgress() }
        do throws(AcquisitionError) {
            return try await acquirer.signIn(request, user: user)
        } catch {
            throw CommandError(error, request: request, url: url, in: context)
        }
    }

    /// The keyring service, where other programs keep what is theirs, whichever keyring lanyard uses.
    package var serviceConfiguration: KeyringConfiguration {
        var configuration = store.configuration
        if context.sealedKeyring != nil { configuration.keyring = MachineKeyring.service(context) }
        return configuration
    }

    /// Runs a body that only throws errors of the keyring.
    package func keeping<Result>(_ body: () throws(KeyringError) -> Result) throws(CommandError) -> Result {
        do { return try body() } catch { throw CommandError(error) }
    }

    /// Runs a body that needs the keyring; if the keyring is locked and the user unlocks it at the terminal, runs it
    /// again.
    package func unlocking<Result>(
        for url: String?, _ body: () async throws(CommandError) -> Result
    ) async throws(CommandError) -> Result {
        do throws(CommandError) {
            return try await body()
        } catch  where error.cause == .lockedKeyring {
            guard await sources.prompter.unlockKeyring(for: url) else { throw error }
            return try await body()
        }
    }

    /// Returns all accounts and where each is used, or only those of one authority; at a terminal, it offers to unlock
    /// the keyring.
    package func accounts(at named: NamedAuthority? = nil, for url: String? = nil) async throws(CommandError)
        -> KnownAccounts
    {
        let stored = try await storedRecords(for: url ?? named?.url)
        return KnownAccounts(acquirer.accounts(among: stored), at: named)
    }

    /// The plugins of brokers that tokens may come from, each with requests of rules and of the top-level authority.
    package var brokerUses: [(plugin: PluginManifest, requests: [TokenRequest])] {
        var own = CredentialRequest()
        own.explicit.authority = configuration.authority
        own.explicit.scopes = ["openid"]
        let rules = configuration.rules.filter { $0.identity == nil }.map(\.pattern.request)
        let uses = (rules + (configuration.authority == nil ? [] : [own])).compactMap {
            asked -> (PluginManifest, TokenRequest)? in
            guard let request = try? resolve(asked), let match = registry.match(request),
                let plugin = registry.broker(for: match)
            else { return nil }
            return (plugin, request)
        }
        return uses.map(\.0).uniqued.map { plugin in (plugin, uses.filter { $0.0 == plugin }.map(\.1)) }
    }

    /// Whether a URL's token can be given without the user.
    package func isSignedIn(for pattern: URLPattern) -> Bool {
        guard let wanted = try? resolve(pattern.request) else { return false }
        return switch acquirer.decide(wanted).step {
        case .answer, .exchange, .renew, .authenticate: true
        case .askUser, .refuse: false
        }
    }

    /// Returns the remembered answer of `get`.
    ///
    /// Unless the request is exactly a tool's, it may be remembered with or without the path, which depends on git's
    /// configuration.
    package func remembered(for request: CredentialRequest, isExact: Bool = false) -> Credential? {
        guard configuration.answerCache else { return nil }
        return (isExact ? [request.path] : [request.path, nil]).compactMap { [context] path in
            var asked = request
            asked.path = path
            return CachedCredential(asked, in: context.surroundings)?.credential
        }.first
    }

    /// Returns the place of an authority's records.
    package func key(of authority: String) throws(CommandError) -> AuthorityKey {
        let known = AuthorityURL(authority).map { configuration.configuredHosts.contains($0.host) } ?? false
        guard let match = registry.match(authority: authority, isConfigured: known) else {
            throw CommandError(
                unknownAuthority: authority, in: registry,
                hints: [Hint("see which are stored", run: "lanyard cache list")])
        }
        return AuthorityKey(match)
    }

    /// Returns the scopes of the well-known resource with a name, in any case; nil if there is none.
    package func scopes(named resource: String) -> [String]? {
        registry.plugins.flatMap(\.resources).first { $0.name.lowercased() == resource.lowercased() }?.scopes
    }

    /// Returns the scopes of a resource, by its well-known name or its identifier.
    package func scopes(ofResource text: String) throws(CommandError) -> [String] {
        if let known = scopes(named: text) { return known }
        let scope = CredentialRequest.ExplicitToken.scope(ofResource: text)
        guard scope.isScopeToken else {
            let near = registry.plugins.flatMap(\.resources).map(\.name).nearest(to: text)
            throw CommandError(
                "there is no resource \(text)",
                hints: [
                    near.map { Hint("did you mean \($0)?") }
                        ?? "an identifier has no spaces, quotes or control characters"
                ],
                status: .usage)
        }
        return [scope]
    }

    /// Returns the identity with a name, which may be the one that the environment describes.
    package func identity(named name: String) throws(CommandError) -> Identity {
        do throws(ResolutionError) { return try configuration.identity(named: name) } catch {
            throw CommandError(error, in: context)
        }
    }

    /// Returns the authority of an application, with the plugin that serves it.
    package func match(_ identity: Identity) throws(CommandError) -> AuthorityMatch {
        let authority = identity.authority ?? ""
        let match = registry.match(authority: authority, kind: identity.application?.kind, isConfigured: true)
        guard let match else { throw CommandError(unknownAuthority: authority, in: registry) }
        return match
    }

    /// Returns the scopes of the API of an identity's own authority.
    package func ownScopes(of name: String) throws(CommandError) -> [String] {
        let identity = try identity(named: name)
        if let own = registry.machine(authority: identity.authority ?? "")?.ownScopes { return own }
        let own = identity.application == nil ? nil : try match(identity).plugin.bareScopes
        // Another issuer knows what an application may do that names no scope.
        if identity.application != nil, own == nil { return [] }
        // Machines ask their platform; what the variables describe is only known with the token.
        guard let resource = own ?? registry.plugins.lazy.compactMap(\.bareScopes).first else {
            throw CommandError(
                "no plugin says which API \(name) could get a token for",
                hints: [Hint("name it", write: "--resource RESOURCE")], status: .usage)
        }
        return [CredentialRequest.ExplicitToken.scope(ofResource: resource)]
    }

    /// Whether users may be sent to an authority's host without confirmation: a manifest or the configuration names it,
    /// or it is this machine.
    package func trusts(authorityHost host: String) -> Bool {
        registry.names(host: host) || configuration.configuredHosts.contains(host)
            || RequestHost(host)?.isThisMachine == true
    }
}

// How a session's parts are made from the command's context and options.

extension Configuration {
    /// Where sign-ins are kept: on a shared machine, until its user logs out.
    package var keyringCollection: KeyringConfiguration.Collection { deviceMode == .shared ? .session : .default }

    /// Reads the configuration and applies the command's options.
    package init(
        _ context: CommandContext, _ scope: Session.Scope, _ options: InteractionOptions.Values, isToBeWritten: Bool
    ) throws(CommandError) {
        do {
            self =
                try scope == .system
                ? Configuration.loadSystem()
                : Configuration.load(environment: context.environment, isToBeWritten: isToBeWritten)
        } catch {
            throw CommandError(ofConfiguration: error)
        }
        for fault in unknown {
            context.console.noteOnce(Hint("warning: \(fault.description)"))
            for hint in fault.hints { context.console.noteOnce(hint) }
        }
        // An option has the same weight as a line in the user's file: neither overrides a locked setting.
        if let flow = options.flow, !isLocked("flow") { self.flow = flow }
        if let timeout = options.timeout, !isLocked("timeout") { self.timeout = timeout }
        if let browser = options.browser, !isLocked("browser") { self.browser = browser }
    }
}

extension PluginRunner {
    /// Creates a runner with the user's time limit in seconds, and the tool's if it has one.
    init(
        _ context: CommandContext, options: [String: [String: String]], patience: Int, timeLimit: Int?,
        _ memos: KeptMemos
    ) {
        var timeouts = PluginTimeouts()
        // The other half is for other processes that use the plugin for the same purpose.
        if let timeLimit { timeouts.silence = .seconds(timeLimit) / 2 }
        timeouts.user = .seconds(patience)
        // After the user is done, there must be time for the rest.
        timeouts.conversation = max(timeouts.conversation, timeouts.user * 3)
        let keeper = PluginMemos { subject in
            memos.memo(about: subject, now: context.now)
        } keep: { memo, subject in
            guard let memo else { return memos.forget(subject) }
            memos.keep(memo.text, about: subject, now: context.now, for: memo.expiresIn)
        }
        self.init(
            environment: context.environment, timeouts: timeouts, memos: keeper, options: options, trace: context.trace)
    }
}

extension CommandContext {
    /// The copy of conversations with plugins to stderr for `LANYARD_TRACE=plugin`; secrets are already masked.
    fileprivate var trace: PluginTrace? {
        guard variable("LANYARD_TRACE") == "plugin" else { return nil }
        return { [console, relay] direction, line in
            let text = "\(direction.rawValue) \(line)"
            guard let relay else { return console.show("lanyard: trace: \(text)") }
            relay.send(.trace(text))
        }
    }

    /// Shows the progress of acquiring a token, or passes it on.
    package func tell(_ progress: AcquisitionProgress) {
        guard let relay else { return console.tell(progress) }
        relay.send(.progress(progress))
    }
}
