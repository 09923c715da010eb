import Addresses
import CredentialProtocol
import PluginHost
import PluginWire
import Rules
import Secrets
import Synchronization
import TokenAcquisition
import TokenStore

/// What a command works with once the configuration has been read.
struct Session: Sendable {
    /// Whose settings count.
    enum Scope: Sendable {
        /// The user's, over the system's.
        case user
        /// The system's alone, which is what everybody has: whoever runs the command brings nothing of theirs.
        case system
    }

    let context: CommandContext
    let scope: Scope
    let configuration: Configuration
    private let plugins: InstalledPlugins
    var presence: Presence
    /// What opens pages; nil where nothing can, or is to.
    let browser: Browser?

    /// Reads the configuration; starts no plugin.
    ///
    /// - Throws: `Failure` where the configuration is wrong.
    init(
        _ context: CommandContext = .current, of scope: Scope = .user, options: InteractionOptions.Values = .init()
    ) throws(Failure) {
        self.context = context
        self.scope = scope
        var configuration: Configuration
        do {
            configuration =
                try scope == .system
                ? Configuration.loadSystem() : Configuration.load(environment: context.environment)
        } catch {
            throw Failure(error)
        }
        // An option is the user's word as much as a line of their file: neither changes what is locked.
        if let flow = options.flow, !configuration.isLocked("flow") { configuration.flow = flow }
        if let timeout = options.timeout, !configuration.isLocked("timeout") { configuration.timeout = timeout }
        if let browser = options.browser, !configuration.isLocked("browser") { configuration.browser = browser }
        self.configuration = configuration
        plugins = InstalledPlugins(environment: scope == .system ? [:] : context.environment, context.executable)
        presence = Presence(
            context, browser: configuration.browser, isInteractive: options.isInteractive,
            isAskedFor: options.isAskedFor)
        browser = presence.hasBrowser ? try Browser(context, configured: configuration.browser) : nil
    }

    /// The plugins; they are looked for when they are first needed, which a stored password never does.
    var registry: PluginRegistry { plugins.registry }

    /// The user's configuration file, for messages.
    var userFile: String { Configuration.userFile(environment: context.environment) ?? "~/.config/lanyard/config.toml" }

    /// The token store.
    var store: SecretServiceStore { SecretServiceStore(configuration: keyring) }

    /// The password store.
    var passwords: PasswordStore { PasswordStore(configuration: keyring) }

    private var keyring: KeyringConfiguration {
        KeyringConfiguration(
            group: configuration.group, collection: configuration.deviceMode == .shared ? .session : .default,
            mayPrompt: presence.hasDisplay, answers: context.answers)
    }

    /// Where the accounts that the person chose are kept; nil where the environment has no place for it.
    var selection: SelectionFile? {
        SelectionFile(
            environment: context.environment, isShared: configuration.deviceMode == .shared, answers: context.answers)
    }

    /// What gets tokens.
    var acquirer: TokenAcquirer {
        let context = context
        return TokenAcquirer(
            store: store, registry: registry, host: host,
            singleFlight: SingleFlight(environment: context.environment),
            notes: SharedNotes(runtimeDirectory: context.variable("XDG_RUNTIME_DIR")), configuration: configuration,
            selection: selection, clock: { Int(context.now) }, tell: context.console.tell)
    }

    private var host: PluginRunner {
        var timeouts = PluginTimeouts()
        timeouts.person = .seconds(configuration.timeout)
        // Once the person is done there is still time for the rest.
        timeouts.conversation = max(timeouts.conversation, timeouts.person * 3)
        return PluginRunner(environment: context.environment, timeouts: timeouts, trace: trace)
    }

    /// The token that a request comes to, or nil where it comes to none.
    func resolve(_ request: CredentialRequest) throws(Failure) -> TokenRequest? {
        do {
            return try configuration.resolve(request) { host in
                registry.resource(forHost: host.name).map { WellKnownResource(name: $0.name, scopes: $0.scopes) }
            }
        } catch {
            throw Failure(error)
        }
    }

    /// The token that a request comes to once its server has been heard, or nil where it comes to none.
    func resolveHeedingServer(_ request: CredentialRequest) throws(Failure) -> TokenRequest? {
        guard var wanted = try resolve(request) else { return nil }
        do {
            try wanted.heedServer(of: request) { [wanted] there, here in
                let match = registry.match(
                    authority: wanted.authority, kind: wanted.kind, isConfigured: wanted.authorityIsConfigured)
                let hosts = match?.environmentHosts ?? []
                return hosts.contains(there.text) && hosts.contains(here.text)
            }
        } catch {
            throw Failure(error)
        }
        return wanted
    }

    /// What is stored for a request; nil where only a person can tell what is meant.
    func stored(for request: TokenRequest, url: String?) throws(Failure) -> TokenAcquirer.Stored? {
        do throws(AcquisitionError) {
            return try acquirer.stored(for: request)
        } catch {
            guard case .store = error else { return nil }
            throw Failure(error, request: request, url: url)
        }
    }

    /// Gets a token, asking the person where the command allows it and somebody is there.
    ///
    /// `url` is what the token is for, where it is for a URL: git's configuration may forbid to ask on its behalf.
    func token(
        for request: TokenRequest, url: String?, stored: TokenAcquirer.Stored? = nil
    ) async throws(Failure) -> AcquiredToken {
        defer { context.console.endProgress() }
        return try await unlocking(for: url) { () async throws(Failure) -> AcquiredToken in
            do throws(AcquisitionError) {
                return try await acquirer.token(for: request, stored: stored, person: { await person(for: url) })
            } catch {
                throw Failure(error, request: request, url: url)
            }
        }
    }

    /// Has the person sign in.
    func signIn(_ request: TokenRequest, url: String?) async throws(Failure) -> AcquiredToken {
        guard let person = await person(for: url) else {
            throw Failure(nobodyToSignIn: request, url: url)
        }
        defer { context.console.endProgress() }
        do throws(AcquisitionError) {
            return try await acquirer.signIn(request, person: person)
        } catch {
            throw Failure(error, request: request, url: url)
        }
    }

    private func person(for url: String?) async -> TokenAcquirer.Person? {
        guard presence.isSomebodyThere else { return nil }
        if let url, await GitConfiguration.forbidsPrompts(for: url) { return nil }
        let interface = PersonAtTerminal(
            context: context, presence: presence, browser: browser, patience: configuration.timeout)
        let title = url.map { "which account for \($0.displayable(limit: 300))?" } ?? "which account?"
        let chooser = presence.hasTerminal ? AccountPicker(console: context.console, title: title) : nil
        return TokenAcquirer.Person(interface: interface, flows: flows, chooser: chooser)
    }

    /// What to try, best first; where the page is opened elsewhere, pasting comes first, for then the answer is in the
    /// address.
    var flows: [PluginRequest.Flow] {
        switch configuration.flow {
        case .browser: presence.hasBrowser ? [.browser, .paste] : [.paste, .browser]
        case .deviceCode: [.deviceCode]
        case .automatic where presence.hasBrowser: [.browser, .deviceCode, .paste]
        case .automatic where configuration.browser == Configuration.noBrowser: [.paste, .browser, .deviceCode]
        case .automatic: [.deviceCode, .paste]
        }
    }

    /// Tees conversations with plugins to stderr for `LANYARD_TRACE=plugin`; secrets are masked already.
    private var trace: PluginTrace? {
        guard context.variable("LANYARD_TRACE") == "plugin" else { return nil }
        let console = context.console
        return { direction, line in console.show("lanyard: trace: \(direction.rawValue) \(line)") }
    }
}

/// The plugins that are installed, found once.
private final class InstalledPlugins: Sendable {
    private let environment: [String: String]
    private let executable: String
    private let found = Mutex<PluginRegistry?>(nil)

    init(environment: [String: String], _ executable: String) {
        self.environment = environment
        self.executable = executable
    }

    var registry: PluginRegistry {
        found.withLock { found in
            let registry = found ?? PluginRegistry.discover(environment: environment, executable: executable)
            found = registry
            return registry
        }
    }
}
