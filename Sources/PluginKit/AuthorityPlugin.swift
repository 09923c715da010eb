public import PluginWire

/// The interface that a plugin's author implements; `PluginMain` handles the protocol.
public protocol AuthorityPlugin: Sendable {
    /// The plugin's name, version, protocol versions and flows.
    var description: PluginDescription { get }

    /// Acquires tokens with the user's help.
    ///
    /// - Throws: `cancelled` if the user declines or nobody answers in time.
    func authorize(_ request: PluginRequest, _ user: any Conversation) async throws(PluginError) -> PluginResult

    /// Redeems `request.refreshToken` without the user.
    ///
    /// - Throws: `interaction-required` if only the user can continue.
    func renew(_ request: PluginRequest) async throws(PluginError) -> PluginResult

    /// Gets a token from a broker, another program that holds a sign-in, without the user.
    ///
    /// The token is for `request.account`, for the account that `request.signIn.loginHint` names, or for the only
    /// account there is. It comes without a refresh token. After `request.timeLimit` milliseconds the host no longer
    /// waits.
    ///
    /// - Throws: `interaction-required` if `authorize` could ask the user; any other error if it couldn't.
    func silent(_ request: PluginRequest) async throws(PluginError) -> PluginResult

    /// Ends the session by opening the authority's end-session page.
    func signOut(_ request: PluginRequest, _ user: any Conversation) async throws(PluginError)

    /// Revokes `request.refreshToken`, and with it the tokens that it was redeemed for, without the user.
    ///
    /// If the authority can't revoke tokens, this does nothing and throws no error.
    func revoke(_ request: PluginRequest) async throws(PluginError)

    /// Registers an application named `request.clientName` at the authority, without the user.
    ///
    /// - Throws: `unsupported` if the authority doesn't support registration.
    func register(_ request: PluginRequest) async throws(PluginError) -> PluginRegistration

    /// Deletes the application `request.clientID`, which `register` has just created, using `request.registration`.
    func unregister(_ request: PluginRequest) async throws(PluginError)

    /// Acquires a token for `request.identity`, an application or a machine, which has neither an account nor a refresh
    /// token.
    ///
    /// The host can be told what is happening: a minute of silence ends the operation. Nobody answers what is asked.
    ///
    /// - Throws: `unsupported` for a kind of identity that the plugin doesn't support.
    func authenticate(_ request: PluginRequest, _ host: any Conversation) async throws(PluginError) -> PluginResult

    /// Exchanges `request.accessToken` for the credential that the host `request.audience` accepts.
    ///
    /// - Throws: `unsupported` for an exchange that the plugin doesn't know.
    func exchange(_ request: PluginRequest) async throws(PluginError) -> PluginCredential

    /// Looks up a credential for a place: `request.lookup`.
    ///
    /// - Throws: `unsupported` for a source that the plugin doesn't know, `unavailable` if it is locked or has no such entry.
    func lookup(_ request: PluginRequest, _ user: any Conversation) async throws(PluginError) -> PluginCredential

    /// Checks whether the authority can be reached from here, without the user and without acquiring a token.
    ///
    /// - Throws: The reason why it can't.
    func probe(_ request: PluginRequest) async throws(PluginError) -> PluginProbe
}

extension AuthorityPlugin {
    /// Throws `unsupported`: the plugin knows no broker.
    public func silent(_ request: PluginRequest) async throws(PluginError) -> PluginResult {
        throw PluginError(.unsupported, "\(description.name) can't use other programs' sign-ins")
    }

    /// Throws `unsupported`.
    public func revoke(_ request: PluginRequest) async throws(PluginError) {
        throw PluginError(.unsupported, "\(description.name) can't revoke tokens")
    }

    /// Throws `unsupported`.
    public func register(_ request: PluginRequest) async throws(PluginError) -> PluginRegistration {
        throw PluginError(.unsupported, "\(description.name) registers no applications")
    }

    /// Throws `unsupported`.
    public func unregister(_ request: PluginRequest) async throws(PluginError) {
        throw PluginError(.unsupported, "\(description.name) can't remove an application's registration")
    }

    /// Throws `unsupported`.
    public func authenticate(
        _ request: PluginRequest, _ host: any Conversation
    ) async throws(PluginError) -> PluginResult {
        throw PluginError(.unsupported, "\(description.name) serves no identities of applications or machines")
    }

    /// Throws `unsupported`.
    public func exchange(_ request: PluginRequest) async throws(PluginError) -> PluginCredential {
        throw PluginError(.unsupported, "\(description.name) exchanges no tokens")
    }

    /// Throws `unsupported`.
    public func lookup(
        _ request: PluginRequest, _ user: any Conversation
    ) async throws(PluginError) -> PluginCredential {
        throw PluginError(.unsupported, "\(description.name) looks up no credentials")
    }

    /// Throws `unsupported`.
    public func probe(_ request: PluginRequest) async throws(PluginError) -> PluginProbe {
        throw PluginError(.unsupported, "\(description.name) cannot be probed")
    }
}

/// A plugin's only way to reach the user: the host shows and answers every event.
public protocol Conversation: Sendable {
    /// Sends an event and waits for its reply, which for `openURL` may take as long as the user does.
    ///
    /// Cancelling the task returns `.cancelled` at once.
    func ask(_ event: PluginEvent) async -> PluginReply
    /// Sends a progress message, without waiting for a reply.
    func progress(_ message: String) async
}
