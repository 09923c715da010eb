public import PluginWire

/// An interface that shows a plugin's events to the user and returns the answers.
public protocol UserInterface: Sendable {
    /// Shows an `openURL`, `showCode` or `prompt` event and waits for its reply.
    ///
    /// All texts in the event are bounded and safe to display; the URLs are https, or http on this machine. The reply
    /// to `openURL` may wait for as long as the user may paste a redirect URL. If the plugin gets the answer in another
    /// way, the task is cancelled and the reply is ignored. The next event is shown only after this returns.
    func answer(_ event: PluginEvent) async -> PluginReply

    /// Shows the user a progress message; may do nothing.
    func progress(_ message: String) async

    /// Receives the plugin's request before its first event; it says what the user will sign in to.
    func begin(_ request: PluginRequest) async

    /// Learns that the conversation has ended, in whatever way.
    func end() async
}

extension UserInterface {
    /// Does nothing.
    public func begin(_ request: PluginRequest) async {}
    /// Does nothing.
    public func end() async {}
}

/// An interface for when no user is there: it answers every event with `unsupported`.
public struct NobodyThere: UserInterface {
    /// Creates the interface.
    public init() {}
    /// Returns `unsupported`.
    public func answer(_ event: PluginEvent) async -> PluginReply { .unsupported }
    /// Shows nothing.
    public func progress(_ message: String) async {}
}

/// How long the host waits in each situation.
public struct PluginTimeouts: Sendable {
    /// For a plugin that says nothing and has no reason to wait for the user; in all for `renew`, `register` and `exchange`,
    /// and twice as long for `authenticate`.
    public var silence = Duration.seconds(60)
    /// For `probe`, `revoke` and `unregister` in all: somebody waits who doesn't depend on them.
    public var probe = Duration.seconds(20)
    /// For the user, since the last page, code or question was shown.
    public var user = Duration.seconds(15 * 60)
    /// For a whole conversation with the user.
    public var conversation = Duration.seconds(45 * 60)
    /// For a plugin to exit after its answer or after being told to stop; then it is killed.
    public var exit = Duration.seconds(2)

    /// Creates the default timeouts.
    public init() {}
}
