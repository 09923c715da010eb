public import Addresses
public import Model
public import SettingsFile
import Terminal

/// The combined settings of the files, the environment and the flags.
public struct Configuration: Sendable, Equatable {
    /// The ways for a user to sign in.
    public enum FlowChoice: String, Sendable, CaseIterable {
        /// The machine's broker if there is one; otherwise the browser if one can open, or else the device code.
        ///
        /// Each is a fallback for the others.
        case automatic = "auto"
        /// The browser only.
        case browser
        /// The device code only.
        case deviceCode = "device-code"
        /// The machine's broker only.
        case broker
    }

    /// The uses of a device.
    public enum DeviceMode: String, Sendable, CaseIterable {
        /// One user: credentials stay in the login keyring.
        case personal
        /// Many users: credentials are removed when the session ends.
        case shared
    }

    /// The keyring that secrets are kept in.
    public enum KeyringKind: String, Sendable, CaseIterable {
        /// The desktop's, over D-Bus.
        case secretService = "secret-service"
        /// lanyard's own, in sealed files.
        case sealed
    }

    /// The authority of well-known hosts without a rule.
    public var authority: String?
    /// The default client ID, or a well-known client's name.
    public var clientID: String?
    /// Whether hosts that plugins know need no rule, because there is a default authority with a client.
    public var mapsKnownHosts: Bool { authority.flatMap(clientID(at:)) != nil }
    /// The default account, by user name or home account ID.
    public var account: String?
    /// The name of the identity that signs in if neither an identity nor an account is named.
    public var defaultIdentity: String?
    /// How users sign in, unless a command says otherwise.
    public var flow = FlowChoice.automatic
    /// The command that opens a browser; nil for `$BROWSER`, xdg-open or wslview, `noBrowser` for none.
    public var browser: String?
    /// A file of PEM certificates to trust in addition to the system's.
    public var caFile: String?
    /// The group of stored items, like a keychain access group: items in the same group are shared.
    public var group = "dev.lanyard"
    /// The use of the device.
    public var deviceMode = DeviceMode.personal
    /// Whether answers with tokens are cached.
    public var answerCache = true
    /// The number of seconds that a user has to sign in.
    public var timeout = 900
    /// The keyring that is used.
    public var keyring = KeyringKind.secretService
    /// The seconds for which the sealed keyring stays unlocked; 0 for as long as the user is logged in.
    public var unlockFor = 0
    /// The protectors that `[policy]` in the system's file allows the sealed keyring; nil for all, none if it is forbidden.
    public var sealedKeyringProtectors: [String]?
    /// Hosts of authorities that are trusted like those of the rules.
    public var knownAuthorities: [String] = []
    /// The issuers' clients from all files, the system's first.
    public var apps: [AuthorityApp] = []
    /// The rules of the apps without a kind, which count where a plugin knows the kind (`addRules(knownTo:)`).
    public var possibleRules: [Rule] = []
    /// The identities from all files, the system's first; built-in ones aren't included.
    public var identities: [Identity] = []
    /// The rules from all files, the system's first.
    public var rules: [Rule] = []
    /// The remote clients that may ask the agent on this machine, from all files, the system's first.
    public var forwards: [Forward] = []
    /// The socket of a remote agent that is asked instead of this machine's rules and keyring.
    public var agent: String?
    /// The keys that `[policy]` in the system's file locks.
    public var lockedKeys: Set<String> = []
    /// The names of the well-known clients that `[policy]` in the system's file allows; nil for all.
    public var wellKnownClients: [String]?

    /// What the files have that isn't known here, and may be of a later version, with what it costs.
    public var unknown: [SettingsError] = []

    /// Whether the policy allows getting tokens from a broker, a program of the machine that holds sign-ins.
    public var allowsBroker = true
    /// Whether a broker is asked.
    public var mayUseBroker: Bool { allowsBroker && (flow == .automatic || flow == .broker) }

    /// The hosts whose paths have no case, which is no setting.
    public var caseless = HostTrait.none {
        didSet { for index in forwards.indices { forwards[index].caseless = caseless } }
    }

    /// The value of `browser` if no browser may be opened: the user opens the page, here or elsewhere.
    public static let noBrowser = "none"

    /// Creates the built-in configuration.
    public init() {}

    /// The top-level keys of a file.
    public static let keys = [
        "account", "agent", "answer-cache", "authority", "browser", "ca-file", "client", "client-id",
        "default-identity", "device-mode", "flow", "forward", "group", "identity", "keyring",
        "known-authorities", "plugin", "policy", "rule", "timeout",
    ]

    /// The keys of `[keyring]`.
    public static let keyringKeys = ["kind", "unlock-for"]

    /// The options for plugins: the tables `[plugin.NAME]`, by the plugin's name.
    public var pluginOptions: [String: [String: String]] = [:]

    /// The keys of `[policy]`.
    public static let policyKeys = ["broker", "lock", "sealed-keyring", "well-known-clients"]

    /// Applies the settings of a file; locked keys stay as they are.
    ///
    /// - Throws: `SettingsError` if a value is invalid, or a key of `[policy]` unknown.
    public mutating func apply(_ file: SettingsTable, isSystem: Bool) throws(SettingsError) {
        let misplaced = file.keys.filter { !Self.keys.contains($0) && Rule.keys.contains($0) }
        unknown += misplaced.map { key in
            file.error(key, "unknown key `\(key)`", hint: "`\(key)` belongs to a rule, below its [[rule]] line")
        }
        unknown += file.unknown(besides: Self.keys + misplaced)
        try applyIdentity(file)
        try applyBehaviour(file)
        if let table = try file.table("keyring") { try applyKeyring(table) }
        if let mode: DeviceMode = try file.choice("device-mode") {
            // A user can't decide whether others use this machine. Ignoring the key would keep what must not be kept.
            guard isSystem else { throw file.systemOnly("device-mode") }
            if !isLocked("device-mode") { deviceMode = mode }
        }
        try addApps(from: file)
        try add(Identity.self, from: file)
        try add(Rule.self, from: file)
        // A far side's name is its socket's, so one of the user's can't be one of everybody's.
        try add(Forward.self, from: file, besides: forwards)
        try applyPluginOptions(file)
        guard let policy = try file.table("policy") else { return }
        guard isSystem else {
            throw file.systemOnly("policy", as: "[policy]")
        }
        try applyPolicy(policy)
    }

    /// Adds apps, and the rules that they are before the file's own rules, which win.
    mutating func addApps(from file: SettingsTable) throws(SettingsError) {
        var known: [AuthorityApp] = []
        for table in try file.tables("client") {
            if let app = try read(table, "client", AuthorityApp.keys, AuthorityApp.init) { known.append(app) }
        }
        guard !isLocked("client") else { return }
        // An app that comes later for the same authority is the one that counts.
        let former = apps.filter { app in
            known.contains { $0.kind != nil && $0.isKnown(at: app.authority, ignoringCase: false) }
        }.compactMap(\.rule)
        apps += known
        guard !isLocked("rule") else { return }
        rules.removeAll(where: former.contains)
        rules += known.filter { $0.kind != nil }.compactMap(\.rule)
        possibleRules += known.filter { $0.kind == nil }.compactMap(\.rule)
    }

    private mutating func add<Table: ConfigurationTable>(
        _: Table.Type, from file: SettingsTable, besides others: [Table] = []
    ) throws(SettingsError) {
        var read: [Table] = []
        for table in try file.tables(Table.key) {
            guard let one = try self.read(table, Table.key, Table.keys, Table.init) else { continue }
            if let name = one.uniqueName, (others + read).contains(where: { $0.uniqueName?.isSame(as: name) == true }) {
                throw table.error("name", "there are two \(Table.plural) of the name \(name)")
            }
            read.append(one)
        }
        if !isLocked(Table.key) { self[keyPath: Table.member] += read }
    }

    /// Reads a table; nil if a key that isn't known here keeps it from being read.
    private mutating func read<Table>(
        _ table: SettingsTable, _ kind: String, _ keys: [String],
        _ make: (SettingsTable) throws(SettingsError) -> Table
    ) throws(SettingsError) -> Table? {
        let unknown = table.unknown(besides: keys, of: kind)
        self.unknown += unknown.map { fault in
            SettingsError(
                file: fault.file, line: fault.line, message: "\(fault.message): this [[\(kind)]] gives nothing",
                hint: fault.hint)
        }
        do throws(SettingsError) { return try make(table) } catch {
            guard unknown.isEmpty else { return nil }
            throw error
        }
    }

    /// A key that isn't known here may restrict everything.
    private mutating func applyPolicy(_ policy: SettingsTable) throws(SettingsError) {
        try policy.allow(only: Self.policyKeys)
        wellKnownClients = try policy.strings("well-known-clients")
        allowsBroker = try policy.boolean("broker") ?? true
        sealedKeyringProtectors = try policy.strings("sealed-keyring")
        for key in try policy.strings("lock") ?? [] {
            guard Self.keys.contains(key) else {
                let near: Message? = Self.keys.nearest(to: key).map { "did you mean `\($0)`?" }
                unknown.append(policy.error("lock", "`lock` names an unknown key", hint: near))
                continue
            }
            lockedKeys.insert(key)
        }
    }

    /// Whether the system's policy keeps the user from changing a key.
    public func isLocked(_ key: String) -> Bool { lockedKeys.contains(key) }

    /// Whether the system's policy allows a well-known client, whether a request gives its name or its ID.
    public func allows(client name: String) -> Bool { wellKnownClients?.contains(name) ?? true }

    /// Applies `[plugin.NAME]`; which options there are, the plugin's manifest says.
    private mutating func applyPluginOptions(_ file: SettingsTable) throws(SettingsError) {
        guard let plugins = try file.table("plugin"), !isLocked("plugin") else { return }
        for name in plugins.keys {
            guard let table = try plugins.table(name) else { continue }
            for key in table.keys {
                guard let value = try table.string(key) else { continue }
                guard !value.utf8.contains(where: { $0 < 0x20 }), value.utf8.count <= 4096 else {
                    throw table.error(key, "`\(key)` must be a text on one line")
                }
                pluginOptions[name, default: [:]][key] = value
            }
        }
    }

    private mutating func applyIdentity(_ file: SettingsTable) throws(SettingsError) {
        if let url = try file.string("authority") {
            let checked = try file.authority(url)
            if !isLocked("authority") { authority = checked }
        }
        if let id = try file.clientID(), !isLocked("client-id") { clientID = id }
        if let name = try file.string("account"), !isLocked("account") { account = name }
        if let name = try file.identityName("default-identity"), !isLocked("default-identity") {
            defaultIdentity = name
        }
        if let hosts = try file.strings("known-authorities") {
            if let wrong = hosts.firstIndex(where: { RequestHost($0) == nil }) {
                throw file.error(
                    "known-authorities", element: wrong, "`known-authorities` takes hosts, and this is not one",
                    hint: "write it like \"login.contoso.com\", without https:// and path")
            }
            if !isLocked("known-authorities") { knownAuthorities = hosts }
        }
        let name = try file.string("group", mustBe: "a short word without spaces") {
            $0.isScopeToken && $0.utf8.count <= 128
        }
        if let name, !isLocked("group") { group = name }
    }

    private mutating func applyKeyring(_ table: SettingsTable) throws(SettingsError) {
        unknown += table.unknown(besides: Self.keyringKeys)
        let kind: KeyringKind? = try table.choice("kind")
        let seconds = try table.integer("unlock-for")
        if let seconds, !(60...31_536_000).contains(seconds) {
            throw table.error("unlock-for", "`unlock-for` must be 60 to 31536000 seconds")
        }
        guard !isLocked("keyring") else { return }
        keyring = kind ?? keyring
        unlockFor = seconds ?? unlockFor
    }

    private mutating func applyBehaviour(_ file: SettingsTable) throws(SettingsError) {
        let socket = try file.string("agent", mustBe: "the absolute path of an agent's socket") { $0.hasPrefix("/") }
        if let socket, !isLocked("agent") { agent = socket }
        if let choice: FlowChoice = try file.choice("flow"), !isLocked("flow") { flow = choice }
        if let command = try file.string("browser"), !isLocked("browser") {
            // An empty value cancels that of an earlier file.
            browser = command.isEmpty ? nil : command
        }
        let certificates = try file.string("ca-file", mustBe: "an absolute path") { $0.hasPrefix("/") }
        if let certificates, !isLocked("ca-file") { caFile = certificates }
        if let truth = try file.boolean("answer-cache"), !isLocked("answer-cache") { answerCache = truth }
        if let seconds = try file.integer("timeout") {
            guard (10...86_400).contains(seconds) else {
                throw file.error("timeout", "`timeout` must be 10 to 86400 seconds")
            }
            if !isLocked("timeout") { timeout = seconds }
        }
    }
}

extension SettingsTable {
    /// Returns the error for a key that only the system's file may have.
    fileprivate func systemOnly(_ key: String, as name: String? = nil) -> SettingsError {
        error(
            key, "`\(name ?? key)` is allowed only in the system's file", hint: "move it to \(Configuration.systemFile)"
        )
    }

    /// Returns the value of a key that must be one of a few words.
    fileprivate func choice<Choice>(_ key: String) throws(SettingsError) -> Choice?
    where Choice: RawRepresentable<String> & CaseIterable {
        guard let word = try string(key) else { return nil }
        if let choice = Choice(rawValue: word) { return choice }
        let words = Choice.allCases.map(\.rawValue)
        let near: Message? = words.nearest(to: word.lowercased()).map { "did you mean \"\($0)\"?" }
        let list = words.map { "\"\($0)\"" }.joined(separator: ", ")
        throw error(key, "`\(key)` must be one of \(list)", hint: near)
    }
}
