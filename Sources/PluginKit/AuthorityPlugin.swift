public import PluginWire

/// A plugin, as its author writes it; `PluginMain` speaks the protocol for it.
public protocol AuthorityPlugin: Sendable {
    /// Name, version, protocol versions and flows.
    var description: PluginDescription { get }

    /// Gets tokens with the person's help.
    ///
    /// - Throws: `cancelled` if the person declines or nobody answers in time.
    func authorize(_ request: PluginRequest, _ person: any Conversation) async throws(PluginError) -> PluginResult

    /// Gets tokens from `request.refreshToken`, without the person.
    ///
    /// - Throws: `interaction-required` if only the person can go on.
    func renew(_ request: PluginRequest) async throws(PluginError) -> PluginResult

    /// Gets a token from a sign-in that another program holds, without the person: for `request.account`, for who
    /// `request.signIn.loginHint` names, or for the only account there is. No refresh token comes with it.
    ///
    /// After `request.timeLimit` milliseconds nobody waits any more.
    ///
    /// - Throws: `interaction-required` if `authorize` could ask the person; anything else if it couldn't.
    func silent(_ request: PluginRequest) async throws(PluginError) -> PluginResult

    /// Ends the session at the authority, by opening its end-session page.
    func signOut(_ request: PluginRequest, _ person: any Conversation) async throws(PluginError)

    /// Has the authority take back `request.refreshToken`, and with it what was got by it, without the person.
    ///
    /// There is nothing to do, and no error, if the authority takes no tokens back.
    func revoke(_ request: PluginRequest) async throws(PluginError)

    /// Registers an application at the authority, of the name `request.clientName`, without the person.
    ///
    /// - Throws: `unsupported` if the authority registers none by itself.
    func register(_ request: PluginRequest) async throws(PluginError) -> PluginRegistration

    /// Takes back the application `request.clientID`, which `register` has just given, at `request.registration`.
    func unregister(_ request: PluginRequest) async throws(PluginError)

    /// Gets a token for `request.identity`, an application or a machine; it has neither an account nor a refresh token.
    ///
    /// The host can be told what is happening: a minute of silence ends the operation. Nobody answers what is asked.
    ///
    /// - Throws: `unsupported` for a kind of identity that the plugin doesn't serve.
    func authenticate(_ request: PluginRequest, _ host: any Conversation) async throws(PluginError) -> PluginResult

    /// Turns `request.accessToken` into what the host `request.audience` takes.
    ///
    /// - Throws: `unsupported` for an exchange that the plugin doesn't know.
    func exchange(_ request: PluginRequest) async throws(PluginError) -> PluginCredential

    /// Finds out whether the authority can be asked from here, without anybody and without getting a token.
    ///
    /// - Throws: why it can't.
    func probe(_ request: PluginRequest) async throws(PluginError) -> PluginProbe
}

extension AuthorityPlugin {
    /// Knows no other program that holds sign-ins.
    public func silent(_ request: PluginRequest) async throws(PluginError) -> PluginResult {
        throw PluginError(.unsupported, "\(description.name) knows no sign-ins but its own")
    }

    /// Takes nothing back.
    public func revoke(_ request: PluginRequest) async throws(PluginError) {
        throw PluginError(.unsupported, "\(description.name) has no tokens taken back")
    }

    /// Registers nothing.
    public func register(_ request: PluginRequest) async throws(PluginError) -> PluginRegistration {
        throw PluginError(.unsupported, "\(description.name) registers no applications")
    }

    /// Takes no application back.
    public func unregister(_ request: PluginRequest) async throws(PluginError) {
        throw PluginError(.unsupported, "\(description.name) takes no application back")
    }

    /// Serves no identities.
    public func authenticate(
        _ request: PluginRequest, _ host: any Conversation
    ) async throws(PluginError) -> PluginResult {
        throw PluginError(.unsupported, "\(description.name) serves no identities of applications or machines")
    }

    /// Does no exchanges.
    public func exchange(_ request: PluginRequest) async throws(PluginError) -> PluginCredential {
        throw PluginError(.unsupported, "\(description.name) exchanges no tokens")
    }

    /// Finds out nothing.
    public func probe(_ request: PluginRequest) async throws(PluginError) -> PluginProbe {
        throw PluginError(.unsupported, "\(description.name) cannot be probed")
    }
}

/// A plugin's only way to the person: every event is shown and answered by the host.
public protocol Conversation: Sendable {
    /// Sends an event and waits for its reply, which for `openURL` may be as long as the person takes.
    ///
    /// Cancelling the task gives `.cancelled` at once.
    func ask(_ event: PluginEvent) async -> PluginReply
    /// Tells what is happening; no reply is waited for.
    func progress(_ message: String) async
}
