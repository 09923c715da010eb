public import PluginWire

/// Whoever shows a plugin's events to the person and brings back the answer.
public protocol PersonInterface: Sendable {
    /// Shows an `openURL`, `showCode` or `prompt` event and waits for its reply.
    ///
    /// Every text in the event is bounded and fit to show; the URLs are https, or http on this machine. The reply to
    /// `openURL` may be held back for as long as a pasted redirect may come; the task is cancelled when the plugin got
    /// what it needs in another way, and then the reply doesn't matter. A second event is shown only after this returns.
    func answer(_ event: PluginEvent) async -> PluginReply

    /// Tells the person what is happening; may do nothing.
    func progress(_ message: String) async

    /// Takes what the plugin is asked, before its first event: what the person will be signing in to.
    func begin(_ request: PluginRequest) async
}

extension PersonInterface {
    /// Does nothing.
    public func begin(_ request: PluginRequest) async {}
}

/// Nobody: every event is answered `unsupported`.
public struct NobodyThere: PersonInterface {
    /// Makes an interface to nobody.
    public init() {}
    /// Always `unsupported`.
    public func answer(_ event: PluginEvent) async -> PluginReply { .unsupported }
    /// Shows nothing.
    public func progress(_ message: String) async {}
}

/// How long the host waits for what.
public struct PluginTimeouts: Sendable {
    /// For a plugin that says nothing and has no reason to wait for the person; in all for `renew`, `register` and `exchange`,
    /// and twice as long for `authenticate`.
    public var silence = Duration.seconds(60)
    /// For `probe`, `revoke` and `unregister` in all: somebody waits who doesn't depend on them.
    public var probe = Duration.seconds(20)
    /// For the person, from the last page, code or question shown.
    public var person = Duration.seconds(15 * 60)
    /// For a whole conversation with a person.
    public var conversation = Duration.seconds(45 * 60)
    /// For a plugin to exit once it has answered or was told to stop, before it is killed.
    public var exit = Duration.seconds(2)

    /// Makes the default timeouts.
    public init() {}
}
