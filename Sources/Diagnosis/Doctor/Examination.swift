import Addresses
import CommandKit
import CredentialEngine
import Glibc
import Keyring
import Model
import PluginHost
import Rules
import Secrets
import SettingsFile
import Terminal

/// What `doctor` examines: the surroundings and, if it can be read, the configuration.
struct Examination: Sendable {
    let context: CommandContext
    /// Whether nothing may be told that names somebody.
    let isRedacted: Bool
    let configuration: Configuration
    /// The error in the configuration, in which case `configuration` is the built-in one.
    let configurationError: SettingsError?
    let registry: PluginRegistry
    /// How the user could be reached from here.
    let presence: Presence

    init(_ context: CommandContext, isRedacted: Bool) {
        self.context = context
        self.isRedacted = isRedacted
        registry = context.registry
        do throws(SettingsError) {
            var read = try Configuration.load(environment: context.environment)
            read.addRules(knownTo: InstalledPlugins(registry))
            (configuration, configurationError) = (read, nil)
        } catch {
            (configuration, configurationError) = (Configuration(), error)
        }
        context.use(configuration)
        presence = Presence(context, browser: configuration.browser, isInteractive: true, isAskedFor: false)
    }

    /// The store, without prompts.
    var store: RecordStore { RecordStore(configuration: keyring) }

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
        // Only the configuration says which keyring it is.
        findings +=
            configurationError == nil
            ? await keyringFindings()
            : [.warn("keyring", "not examined, because the configuration is wrong", "correct that first")]
        findings += memoryFindings
        findings += await gitFindings()
        findings += await toolFindings()
        // A machine that asks an agent neither signs in nor connects to an authority.
        guard configuration.agent == nil else { return findings }
        findings += userFindings
        findings += await brokerFindings()
        findings += await networkFindings()
        if isOnline { findings += await online() }
        return findings + (findings.contains { $0.check == "clock" } ? [] : clockFindings)
    }

    private func online() async -> [Finding] {
        do throws(CommandError) {
            return try await OnlineChecks(self).findings()
        } catch {
            return [.warn("authority", "none was asked, because the configuration is wrong", "correct that first")]
        }
    }

    /// The facts about the machine that a stranger needs to understand a report.
    var systemFacts: [Finding] {
        [
            .pass("system", "\(OSRelease.here["PRETTY_NAME"] ?? "unknown")"),
            .pass("kernel", "\(Self.kernel)"),
            .pass("desktop", "\(context.variable("XDG_CURRENT_DESKTOP") ?? "none")"),
            .pass("session", "\(context.variable("XDG_SESSION_TYPE") ?? "none")"),
            .pass("shell", "\(shell)"), .pass("TERM", "\(context.variable("TERM") ?? "none")"),
        ]
    }

    /// The name of the login shell, whose path may contain the user's name.
    private var shell: String {
        let name = context.variable("SHELL")?.pieces(between: "/").last
        return name.map { String($0) } ?? "unknown"
    }

    private static var kernel: String {
        var name = utsname()
        guard uname(&name) == 0 else { return "unknown" }
        func text(_ field: some Any) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        return "\(text(name.sysname)) \(text(name.release)) \(text(name.machine))"
    }
}

/// The result of one of `doctor`'s checks, with its remedies.
struct Finding: Sendable, Equatable {
    /// The severity of a finding.
    enum Level: String, Sendable {
        /// It works.
        case pass
        /// It works, but with limitations.
        case warn
        /// It doesn't work.
        case fail
    }

    /// The name of the check, such as `keyring.state`, which stays the same from release to release.
    let check: String
    let level: Level
    /// The result and its reason, for users.
    let message: Message
    /// The remedies, if possible with a command first.
    let remedies: [Hint]

    /// Returns a finding for something that works.
    static func pass(_ check: String, _ message: Message) -> Finding {
        Finding(check: check, level: .pass, message: message, remedies: [])
    }

    /// Returns a finding for something that works with limitations.
    static func warn(_ check: String, _ message: Message, _ remedies: Hint...) -> Finding {
        Finding(check: check, level: .warn, message: message, remedies: remedies)
    }

    /// Returns a finding for something that doesn't work.
    static func fail(_ check: String, _ message: Message, _ remedies: Hint...) -> Finding {
        Finding(check: check, level: .fail, message: message, remedies: remedies)
    }

    /// Returns a finding for one of lanyard's own errors.
    static func fail(_ check: String, _ failure: CommandError) -> Finding {
        Finding(check: check, level: .fail, message: failure.message, remedies: failure.hints)
    }
}
