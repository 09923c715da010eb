public import AnswerCache
public import Keyring
public import PluginHost
public import Rules

/// What getting tokens needs; a command makes it once.
public struct AcquisitionServices: Sendable {
    /// The rules and settings.
    public let configuration: Configuration
    /// The plugins, which are only looked for when one is needed.
    public let plugins: InstalledPlugins
    var store: RecordStore
    let runner: PluginRunner
    let singleFlight: SingleFlight
    /// Returns seconds since 1970.
    let clock: @Sendable () -> Int
    /// What the user's processes tell each other; nothing unless it has a folder.
    public var notes = SharedNotes(in: nil)
    /// Called before each step that may take long.
    public var tell: @Sendable (AcquisitionProgress) -> Void = { _ in }
    /// The clients' secrets; nil for none.
    public var clientSecrets: ClientSecretStore?
    /// The accounts that the user has chosen; nil for none.
    public var selection: SelectionFile?
    /// The tokens of identities if there is no keyring; nil for none.
    public var remembered: RememberedTokens?
    /// The variables of the process, which may select and prove an identity.
    public var environment: [String: String] = [:]
    /// The seconds that another process may take; nil for as long as a user may take.
    public var patience: Double?
    /// The same for the locks of other processes; nil if it doesn't differ.
    var lockPatience: Double?
    /// When to renew tokens that can still be handed out.
    public var timing = RenewalTiming.whenDue
    /// Has refresh tokens redeemed by another process; nil to redeem them in this one.
    public var redeemer: (any Redeemer)?

    /// Creates the services without which nothing works.
    public init(
        _ configuration: Configuration, store: RecordStore, plugins: InstalledPlugins, runner: PluginRunner,
        singleFlight: SingleFlight, clock: @escaping @Sendable () -> Int
    ) {
        self.configuration = configuration
        self.plugins = plugins
        self.store = store
        self.runner = runner
        self.singleFlight = singleFlight
        self.clock = clock
    }
}

/// What does a part of getting tokens, all with the same services.
protocol Serviced: Sendable {
    var services: AcquisitionServices { get }
}

extension Serviced {
    var registry: PluginRegistry { services.plugins.registry }
    var store: RecordStore { services.store }
    var runner: PluginRunner { services.runner }
    var recentErrors: RecentErrors { RecentErrors(notes: services.notes) }
    var clock: @Sendable () -> Int { services.clock }
    var tell: @Sendable (AcquisitionProgress) -> Void { services.tell }
    var selection: SelectionFile? { services.selection }
    var decider: Decider { Decider(services: services) }
    var locks: ProcessLocks { ProcessLocks(services: services) }
    var keeper: RecordKeeper { RecordKeeper(services: services) }
    var requests: PluginRequests { PluginRequests(services: services) }
    var identities: IdentityTokens { IdentityTokens(services: services) }
    var identityRecords: IdentityRecords {
        IdentityRecords(
            keyring: store.withoutPrompts, remembered: services.configuration.answerCache ? services.remembered : nil,
            clock: clock)
    }
}
