import Addresses
import CommandKit
import Keyring
import Model
import PluginHost
import Rules
import Secrets
import Terminal
import TokenAcquisition

/// Values known on this machine: accounts, authorities, clients, and the names in rules and plugins.
///
/// This never asks the user, unlocks a keyring or starts a plugin. Values that aren't available at once are left out.
struct KnownValues {
    let context: CommandContext
    /// The configuration; nil if it has errors, which other commands report.
    private let configuration: Configuration?
    private let registry: PluginRegistry

    init(_ context: CommandContext) {
        self.context = context
        configuration = try? Configuration.load(environment: context.environment)
        registry = context.registry
    }

    /// Returns the values of a subject (`CommandParameter.subject`); empty if there are none.
    func of(_ subject: String) -> [Candidate] {
        let found: [Candidate] =
            switch subject {
            case "account", "login-hint": accounts
            case "key": Configuration.settingKeys.map { Candidate($0, SettingKey.note($0)) } + pluginOptions
            case "identity", "default-identity": identities
            case "forward", "host": forwards
            case "forward-url": forwardedURLs
            case "answer-cache": ["true", "false"].map { Candidate($0) }
            case "device-mode": Configuration.DeviceMode.allCases.map { Candidate($0.rawValue) }
            case "flow": Configuration.FlowChoice.allCases.map { Candidate($0.rawValue) }
            case "kind": RuleOptions.kinds.map { Candidate($0) }
            case "assertion", "subject-token":
                ApplicationOptions.assertions.map { Candidate($0.cut(at: ":").map { "\($0.0):" } ?? $0) }
            case "authority": authorities
            case "client-id": clients
            case "scope": scopes
            case "resource": resources
            case "token": TokenRequest.Kind.allCases.map { Candidate($0.rawValue) }
            case "exchange": exchanges
            case "exchange-parameter": exchangeParameters
            case "url":
                rulesURLs().filter { !$0.text.utf8.contains(UInt8(ascii: "*")) }
                    + (configuration?.mapsKnownHosts == true ? wellKnownURLs : [])
            case "known-url": rulesURLs() + wellKnownURLs
            case "user-rule": rulesURLs(isSystem: false)
            case "system-rule": rulesURLs(isSystem: true)
            case "plugin": registry.plugins.map { Candidate($0.name, $0.summary) }
            default: []
            }
        var seen: Set<String> = []
        return found.filter { $0.text == $0.text.displayable(limit: 1000) && seen.insert($0.text).inserted }
    }

    private var rules: [Rule] { configuration?.rules ?? [] }

    private var authorities: [Candidate] {
        let named = rules.filter { !$0.authority.isEmpty }.map {
            Candidate($0.authority, "of the rule for \($0.pattern.text)")
        }
        let standard = configuration?.authority.map { Candidate($0, "of the configuration") }
        let issuers = (configuration?.apps ?? []).map { Candidate($0.authority, "of an app") }
        return [standard].compactMap(\.self) + named + issuers + registry.plugins.flatMap(\.wellKnownAuthorities)
    }

    private var clients: [Candidate] {
        let standard = configuration?.clientID.map { Candidate($0, "of the configuration") }
        let named = rules.compactMap { rule in
            rule.clientID.map { Candidate($0, "of the rule for \(rule.pattern.text)") }
        }
        let issuers = (configuration?.apps ?? []).map { Candidate($0.clientID, "at \($0.authority)") }
        let known = registry.plugins.flatMap(\.clients).filter { configuration?.allows(client: $0.name) ?? true }
        return [standard].compactMap(\.self) + named + issuers + known.map { Candidate($0.name, $0.summary) }
    }

    private var scopes: [Candidate] {
        let named = rules.flatMap { rule in
            rule.scopes.map { Candidate($0, "of the rule for \(rule.pattern.text)") }
        }
        let known = registry.plugins.flatMap(\.resources).flatMap { resource in
            resource.scopes.map { Candidate($0, resource.name) }
        }
        return named + known
    }

    private var resources: [Candidate] {
        registry.plugins.flatMap(\.resources).map { Candidate($0.name, $0.scopes.joined(separator: " ")) }
    }

    private var identities: [Candidate] {
        let own = configuration?.identities ?? []
        return (Identity.builtIn + own).map { Candidate($0.name, $0.displayedProof.text) }
    }

    private var forwards: [Candidate] {
        (configuration?.forwards ?? []).map { forward in
            Candidate(forward.name, forward.urls.map(\.text).joined(separator: " "))
        }
    }

    private var forwardedURLs: [Candidate] {
        (configuration?.forwards ?? []).flatMap { forward in
            forward.urls.map { Candidate($0.text, "of \(forward.name)") }
        }
    }

    private var exchanges: [Candidate] {
        registry.plugins.flatMap { plugin in
            plugin.exchanges.map { Candidate($0.name, $0.hosts.joined(separator: ", ")) }
        }
    }

    private var exchangeParameters: [Candidate] {
        registry.plugins.flatMap(\.exchanges).flatMap { exchange in
            exchange.parameters.map { Candidate("\($0)=", "of \(exchange.name)") }
        }
    }

    private var pluginOptions: [Candidate] {
        registry.plugins.flatMap { plugin in
            plugin.options.map { Candidate("plugin.\(plugin.name).\($0)", plugin.summary) }
        }
    }

    /// Returns the URLs of rules in both files or in one of them.
    private func rulesURLs(isSystem: Bool? = nil) -> [Candidate] {
        rules.filter { isSystem == nil || isSystem == ($0.file == Configuration.systemFile) }
            .map { Candidate($0.pattern.text, $0.authority) }
    }

    private var wellKnownURLs: [Candidate] {
        registry.plugins.flatMap(\.resources).flatMap { resource in
            resource.hosts.filter { !$0.utf8.contains(UInt8(ascii: "*")) }.map {
                Candidate("https://\($0)", resource.name)
            }
        }
    }

    /// The time limit for the keyring, in seconds: the user is waiting after pressing Tab.
    private static let patience = 0.5

    /// The accounts that have signed in; empty if the keyring is locked or doesn't respond at once.
    private var accounts: [Candidate] {
        let configuration = configuration ?? Configuration()
        context.use(configuration)
        let keyring = KeyringConfiguration(
            context.keyring, group: configuration.group, collection: configuration.keyringCollection,
            deadline: Self.patience, mayPrompt: false)
        let found = try? RecordStore(configuration: keyring).records(matching: RecordQuery(kinds: [.account]))
        let isShared = configuration.deviceMode == .shared
        let history = SelectionFile(environment: context.environment, isShared: isShared)?.read() ?? []
        let known = KnownAccounts(
            AccountOverview(found ?? StoredRecords(), registry: registry, history: history, isShared: isShared))
        return known.all.map { Candidate(known.name(of: $0), about($0, among: known)) }
    }

    /// Returns what an account's name alone doesn't say.
    private func about(_ account: KnownAccount, among known: KnownAccounts) -> String {
        let record = account.account
        let home = account.isHomeShared ? nil : record.tenant.map(known.displayName)
        let isMarked = known.all.count > 1 && known.isUsed(account)
        let about = [
            record.username == known.name(of: account) ? nil : record.username, record.name, record.kind, home,
            isMarked ? "in use" : nil,
        ]
        return about.compactMap(\.self).filter { !$0.isEmpty }.joined(separator: ", ")
    }
}

extension PluginManifest {
    /// The authorities with well-known names that the plugin serves, at the first host of each environment.
    fileprivate var wellKnownAuthorities: [Candidate] {
        authorities.flatMap { pattern in
            let hosts = environments.compactMap(\.first).filter(pattern.hosts.contains)
            guard pattern.path == [.realm] else { return [Candidate]() }
            return hosts.flatMap { host in pattern.realms.map { Candidate("https://\(host)/\($0)", summary) } }
        }
    }
}
