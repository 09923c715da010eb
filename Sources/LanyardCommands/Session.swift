import Addresses
import CredentialEngine
import PluginHost
import PluginWire
import Rules
import Secrets
import Terminal
import TokenAcquisition
import TokenStore

/// Everything that a command needs once the configuration has been read.
struct Session: Sendable {
    enum Scope: Sendable {
        /// The user's configuration, on top of the system's.
        case user
        /// The system's configuration only, as it is for all users; nothing comes from the user who runs the command.
        case system
    }

    let context: CommandContext
    let scope: Scope
    let configuration: Configuration
    let sources: CredentialSources
    let store: SecretServiceStore
    /// The secrets of applications.
    let clientSecrets: ClientSecretStore
    /// The file with the accounts that the user has chosen; nil if the environment has no place for it.
    let selection: SelectionFile?
    let presence: Presence
    /// The browser; nil if none can or should be used.
    let browser: Browser?

    /// The plugins, which are only looked for when one is needed; a stored password never needs them.
    var registry: PluginRegistry { sources.plugins.registry }
    var passwords: PasswordStore { sources.passwords }
    var acquirer: TokenAcquirer { sources.acquirer }
    /// The ways to sign in, best first.
    var flows: [PluginRequest.Flow] { presence.flows(configuration) }

    /// Reads the configuration; starts no plugin.
    ///
    /// If `isToBeWritten`, the user's file may be missing even if `LANYARD_CONFIG` names it.
    ///
    /// - Throws: `Failure` if the configuration has errors.
    init(
        _ context: CommandContext, of scope: Scope = .user, options: InteractionOptions.Values = .init(),
        isToBeWritten: Bool = false
    ) throws(Failure) {
        self.context = context
        self.scope = scope
        configuration = try Configuration(context, scope, options, isToBeWritten: isToBeWritten)
        presence = Presence(
            context, browser: configuration.browser, isInteractive: options.isInteractive,
            isAskedFor: options.isAskedFor)
        browser = presence.hasBrowser ? try Browser(context, configured: configuration.browser) : nil
        let isShared = configuration.deviceMode == .shared
        let keyring = KeyringConfiguration(
            context.keyring, group: configuration.group, collection: configuration.keyringCollection,
            mayPrompt: presence.hasDisplay,
            answers: context.answers)
        store = SecretServiceStore(configuration: keyring)
        clientSecrets = ClientSecretStore(configuration: keyring)
        selection = SelectionFile(environment: context.environment, isShared: isShared, answers: context.answers)
        let plugins = InstalledPlugins(
            environment: scope == .system ? [:] : context.environment, executable: context.executable)
        let acquirer = TokenAcquirer(
            store: store, clientSecrets: clientSecrets, plugins: plugins,
            host: PluginRunner(
                context, patience: configuration.timeout, timeLimit: options.timeLimit,
                KeptMemos(environment: context.environment, isShared: isShared)),
            singleFlight: SingleFlight(environment: context.environment),
            notes: SharedNotes(runtimeFolderOf: context.environment), configuration: configuration,
            selection: selection, remembered: RememberedTokens(context.answers), environment: context.environment,
            patience: options.timeLimit.map { Double($0) / 2 }, timing: options.timing, clock: context.clock,
            tell: context.console.tell)
        sources = CredentialSources(
            configuration: configuration, plugins: plugins, passwords: PasswordStore(configuration: keyring),
            acquirer: acquirer,
            attendant: PersonHere(
                context: context, configuration: configuration, presence: presence, browser: browser),
            environment: context.environment)
    }

    /// Returns all stored records.
    func storedRecords() throws(Failure) -> StoredRecords { try list().records }

    /// Returns all stored tokens and their accounts.
    func list() throws(Failure) -> Listing {
        let engine = Engine(in: context.surroundings) { sources }
        do throws(Refusal) { return try engine.list() } catch { throw Failure(error, in: context) }
    }

    /// Resolves a request to the token that it needs; nil if it needs none.
    func resolve(_ request: CredentialRequest) throws(Failure) -> TokenRequest? {
        do throws(Refusal) { return try sources.resolve(request) } catch { throw Failure(error, in: context) }
    }

    /// Gets a token, asking the user if the command allows it and they can be reached.
    ///
    /// `url` is the URL that the token is for, if any; git's configuration may forbid prompts for it.
    func token(for request: TokenRequest, url: String?) async throws(Failure) -> AcquiredToken {
        defer { context.console.endProgress() }
        do throws(Refusal) {
            let token = try await sources.token(for: request, place: url)
            guard !token.accessToken.isEmpty else { throw .severalParts(token.fields.keys.sorted(), place: url) }
            return token
        } catch {
            throw Failure(error, in: context)
        }
    }

    /// Gets a token from the agent that this machine asks.
    func forwardedToken(
        for request: CredentialRequest, _ options: InteractionOptions.Values
    ) throws(Failure) -> AcquiredToken {
        let engine = Engine(in: context.surroundings, terms: RelayTerms(context, options)) { sources }
        guard case .settled(let outcome) = engine.attempt(.get(request)) else { throw Failure(noRuleMaps: request) }
        switch outcome {
        case .credential(let credential) where credential.kind == .accessToken:
            return AcquiredToken(
                forwarded: credential.secret, expiresOn: credential.expiresOn, realm: credential.realm ?? "",
                basicUsername: credential.takesBearer ? nil : credential.basicUsername)
        case .refused(let refusal): throw Failure(refusal, in: context)
        case .credential, .list, .nothing: throw Failure("on the agent's machine, no rule maps \(request.url)")
        }
    }

    /// Signs the user in.
    func signIn(_ request: TokenRequest, url: String?) async throws(Failure) -> AcquiredToken {
        guard let person = await sources.attendant.person(for: url) else {
            throw Failure(nobodyToSignIn: request, url: url)
        }
        defer { context.console.endProgress() }
        do throws(AcquisitionError) {
            return try await acquirer.signIn(request, person: person)
        } catch {
            throw Failure(error, request: request, url: url, in: context)
        }
    }

    /// Runs a body that only throws errors of the keyring.
    func keeping<Result>(_ body: () throws(StoreError) -> Result) throws(Failure) -> Result {
        do { return try body() } catch { throw Failure(error) }
    }

    /// Runs a body that needs the keyring; if the keyring is locked and the user unlocks it at the terminal, runs it
    /// again.
    func unlocking<Result>(
        for url: String?, _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        do throws(Failure) {
            return try await body()
        } catch  where error.cause == .lockedKeyring {
            guard await sources.attendant.unlockKeyring(for: url) else { throw error }
            return try await body()
        }
    }
}

extension Session {
    /// Returns the well-known resource at a pattern's host.
    func resource(of pattern: URLPattern) -> PluginResource? {
        guard pattern.scheme == "https" else { return nil }
        return registry.resource(forHost: pattern.host.text)
    }

    /// Whether users may be sent to an authority's host without confirmation: a manifest or the configuration names it,
    /// or it is this machine.
    func trusts(authorityHost host: String) -> Bool {
        registry.names(host: host) || configuration.configuredHosts.contains(host)
            || RequestHost(host)?.isThisMachine == true
    }
}

extension Configuration {
    /// Where sign-ins are kept: on a shared machine, until its user logs out.
    var keyringCollection: KeyringConfiguration.Collection { deviceMode == .shared ? .session : .default }

    /// Reads the configuration and applies the command's options.
    fileprivate init(
        _ context: CommandContext, _ scope: Session.Scope, _ options: InteractionOptions.Values, isToBeWritten: Bool
    ) throws(Failure) {
        do {
            self =
                try scope == .system
                ? Configuration.loadSystem()
                : Configuration.load(environment: context.environment, isToBeWritten: isToBeWritten)
        } catch {
            throw Failure(error)
        }
        // An option has the same weight as a line in the user's file: neither overrides a locked setting.
        if let flow = options.flow, !isLocked("flow") { self.flow = flow }
        if let timeout = options.timeout, !isLocked("timeout") { self.timeout = timeout }
        if let browser = options.browser, !isLocked("browser") { self.browser = browser }
    }
}

extension PluginRunner {
    /// Creates a runner with the user's time limit in seconds, and the tool's if it has one.
    fileprivate init(_ context: CommandContext, patience: Int, timeLimit: Int?, _ memos: KeptMemos) {
        var timeouts = PluginTimeouts()
        // The other half is for other processes that use the plugin for the same purpose.
        if let timeLimit { timeouts.silence = .seconds(timeLimit) / 2 }
        timeouts.person = .seconds(patience)
        // After the user is done, there must be time for the rest.
        timeouts.conversation = max(timeouts.conversation, timeouts.person * 3)
        let keeper = PluginMemos { subject in
            memos.memo(about: subject, now: context.now)
        } keep: { memo, subject in
            guard let memo else { return memos.forget(subject) }
            memos.keep(memo.text, about: subject, now: context.now, for: memo.expiresIn)
        }
        self.init(environment: context.environment, timeouts: timeouts, memos: keeper, trace: context.trace)
    }
}

extension CommandContext {
    /// The copy of conversations with plugins to stderr for `LANYARD_TRACE=plugin`; secrets are already masked.
    fileprivate var trace: PluginTrace? {
        guard variable("LANYARD_TRACE") == "plugin" else { return nil }
        return { [console] direction, line in console.show("lanyard: trace: \(direction.rawValue) \(line)") }
    }
}
