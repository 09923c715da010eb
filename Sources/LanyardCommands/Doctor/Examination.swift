import PluginHost
import Rules
import SettingsFile
import Terminal
import TokenStore

/// What `doctor` examines: the surroundings and, if it can be read, the configuration.
struct Examination: Sendable {
    let context: CommandContext
    /// Whether nothing may be told that names somebody.
    let isForStrangers: Bool
    let configuration: Configuration
    /// The error in the configuration, in which case `configuration` is the built-in one.
    let configurationError: SettingsError?
    let registry: PluginRegistry
    /// How the user could be reached from here.
    let presence: Presence

    init(_ context: CommandContext, isForStrangers: Bool) {
        self.context = context
        self.isForStrangers = isForStrangers
        var error: SettingsError?
        do throws(SettingsError) {
            configuration = try Configuration.load(environment: context.environment)
        } catch let thrown {
            configuration = Configuration()
            error = thrown
        }
        configurationError = error
        registry = context.registry
        presence = Presence(context, browser: configuration.browser, isInteractive: true, isAskedFor: false)
    }

    /// The store, without prompts.
    var store: SecretServiceStore { SecretServiceStore(configuration: keyring) }

    /// The secrets of applications, without prompts.
    var clientSecrets: ClientSecretStore { ClientSecretStore(configuration: keyring) }

    private var keyring: KeyringConfiguration {
        KeyringConfiguration(
            context.keyring, group: configuration.group, collection: configuration.keyringCollection)
    }

    /// Whether only applications and machines get tokens here.
    var isForIdentities: Bool {
        guard configuration.defaultIdentity == nil else { return true }
        return !configuration.rules.isEmpty && configuration.rules.allSatisfy { $0.identity != nil }
    }

    /// Whether everything works without a keyring, as in a pipeline: neither a user's token nor an identity's secret is
    /// stored.
    var needsNoKeyring: Bool {
        // An agent's credentials are stored on its own machine.
        guard configuration.agent == nil else { return true }
        return (isForIdentities || context.boolean("CI") == true)
            && !configuration.identities.contains(where: \.isKeptInKeyring)
    }

    /// Runs all checks.
    ///
    /// - Parameter isOnline: whether authorities are asked, too.
    /// - Returns: a finding or more for each check.
    func findings(online isOnline: Bool) async -> [Finding] {
        var findings = ConfigurationChecks(examination: self).findings
        findings += IdentityChecks(examination: self).findings
        findings += PluginChecks(registry: registry).findings
        findings += AgentChecks(examination: self).findings
        findings += await KeyringChecks(examination: self).findings()
        findings += MemoryChecks(examination: self).findings
        findings += await GitChecks(examination: self).findings()
        findings += ToolChecks(context: context).findings
        // A machine that asks an agent neither signs in nor connects to an authority.
        guard configuration.agent == nil else { return findings }
        findings += PersonChecks(examination: self).findings
        findings += await BrokerChecks(examination: self).findings()
        findings += await NetworkChecks(examination: self).findings()
        if isOnline { findings += await online() }
        return findings + (findings.contains { $0.check == "clock" } ? [] : ClockCheck(examination: self).findings)
    }

    private func online() async -> [Finding] {
        do throws(Failure) {
            return try await OnlineChecks(self).findings()
        } catch {
            return [.warn("authority", "none was asked, because the configuration is wrong", "correct that first")]
        }
    }

    /// The path of the user's configuration file, for people.
    var userFile: String {
        context.short(context.userFile)
    }
}

extension Identity {
    /// Whether the keyring contains the identity's secret or password.
    fileprivate var isKeptInKeyring: Bool {
        switch application?.proof {
        case .secret(.keyring), .certificate(_, password: .keyring): true
        default: false
        }
    }
}
