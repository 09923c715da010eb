import CredentialEngine
import PluginHost
import PluginWire
import Rules
import Secrets
import Terminal
import TokenAcquisition
import TokenStore

/// Everything that a command needs once the configuration has been read; it never changes.
///
/// It is a class because most parts of a command hold it: copies of all its fields would take code and memory.
final class Session: Sendable {
    enum Scope: Sendable {
        /// The user's configuration, on top of the system's.
        case user
        /// The system's configuration only, as it is for all users; nothing comes from the user who runs the command.
        case system
    }

    let context: CommandContext
    let scope: Scope
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
    var configuration: Configuration { sources.configuration }
    var passwords: PasswordStore { sources.passwords }
    var acquirer: TokenAcquirer { sources.acquirer }
    /// The tables of the file that a command of this scope changes.
    var tables: ConfigurationTables { .init(context: context, scope: scope, configuration: configuration) }
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
        if let failure = ProcessLimits.failure { throw failure }
        self.context = context
        self.scope = scope
        var configuration = try Configuration(context, scope, options, isToBeWritten: isToBeWritten)
        presence = Presence(
            context, browser: configuration.browser, isInteractive: options.isInteractive,
            isAskedFor: options.isAskedFor)
        browser = presence.hasBrowser ? Browser(context, configured: configuration.browser) : nil
        let isShared = configuration.deviceMode == .shared
        let keyring = KeyringConfiguration(
            context.keyring, group: configuration.group, collection: configuration.keyringCollection,
            mayPrompt: presence.hasDisplay, answers: context.answers)
        store = SecretServiceStore(configuration: keyring)
        clientSecrets = ClientSecretStore(configuration: keyring)
        selection = SelectionFile(environment: context.environment, isShared: isShared, answers: context.answers)
        let plugins = InstalledPlugins(
            environment: scope == .system ? [:] : context.environment, executable: context.executable)
        configuration.caseless = plugins.caseless
        let acquirer = TokenAcquirer(
            store: store, clientSecrets: clientSecrets, plugins: plugins,
            host: PluginRunner(
                context, patience: configuration.timeout, timeLimit: options.timeLimit,
                KeptMemos(environment: context.environment, isShared: isShared)),
            singleFlight: SingleFlight(environment: context.environment),
            notes: SharedNotes(runtimeFolderOf: context.environment), configuration: configuration,
            selection: selection, remembered: RememberedTokens(context.answers), environment: context.environment,
            patience: options.timeLimit.map { Double($0) / 2 }, timing: options.timing,
            redeemer: options.mayRedeem
                ? nil : DetachedRedeemer(executable: context.executable, console: context.console),
            clock: context.clock, tell: context.tell)
        sources = CredentialSources(
            configuration: configuration, plugins: plugins,
            passwords: PasswordStore(configuration: keyring, caseless: plugins.caseless), acquirer: acquirer,
            prompter: LocalPrompter(
                context: context, configuration: configuration, presence: presence, browser: browser),
            environment: context.environment)
    }

    /// Returns all stored records; at a terminal, it offers to unlock the keyring.
    func storedRecords(for url: String? = nil) async throws(Failure) -> StoredRecords {
        try await unlocking(for: url) { () throws(Failure) in
            try keeping { () throws(StoreError) in try acquirer.allRecords() }
        }
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
        let engine = Engine(in: context.surroundings, terms: AgentTerms(context, options)) { [sources] in sources }
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
        guard let person = await sources.prompter.person(for: url) else {
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
            guard await sources.prompter.unlockKeyring(for: url) else { throw error }
            return try await body()
        }
    }
}
