import Synchronization

/// The installed plugins, which are looked for once, when they are first needed.
public final class InstalledPlugins: Sendable {
    private let discover: @Sendable () -> PluginRegistry
    private let found = Mutex<PluginRegistry?>(nil)

    /// Uses the plugins of the user or, without an environment, those of the system.
    public init(environment: [String: String], executable: String) {
        discover = { PluginRegistry.discover(environment: environment, executable: executable) }
    }

    /// Wraps a registry that is already known.
    public init(_ registry: PluginRegistry) {
        discover = { registry }
    }

    /// The plugins; the first access looks for them.
    public var registry: PluginRegistry {
        found.withLock { found in
            let registry = found ?? discover()
            found = registry
            return registry
        }
    }
}
