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
        do throws(SettingsError) {
            (configuration, configurationError) = (try Configuration.load(environment: context.environment), nil)
        } catch {
            (configuration, configurationError) = (Configuration(), error)
        }
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
        var findings = unusablePluginFindings + configurationFindings
        findings += identityFindings
        findings += pluginFindings
        findings += agentFindings
        findings += await keyringFindings()
        findings += memoryFindings
        findings += await gitFindings()
        findings += await toolFindings()
        // A machine that asks an agent neither signs in nor connects to an authority.
        guard configuration.agent == nil else { return findings }
        findings += personFindings
        findings += await brokerFindings()
        findings += await networkFindings()
        if isOnline { findings += await online() }
        return findings + (findings.contains { $0.check == "clock" } ? [] : clockFindings)
    }

    private func online() async -> [Finding] {
        do throws(Failure) {
            return try await OnlineChecks(self).findings()
        } catch {
            return [.warn("authority", "none was asked, because the configuration is wrong", "correct that first")]
        }
    }
}
