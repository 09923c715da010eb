import FoundationEssentials
package import OAuth
package import PluginKit
package import PluginWire
package import Secrets

/// The state of one request: an authority with known endpoints.
package protocol OAuthSession: AuthorityRules where Tokens == PluginResult {
    /// The host's request.
    var request: PluginRequest { get }
    /// The transport to the authority.
    var transport: Transport { get }
    /// The OAuth client of the request.
    var client: OAuthClient { get }
    /// Whether the authority wasn't asked because its metadata is cached.
    var isRecalled: Bool { get }
    /// Additional headers of a request that redeems the refresh token.
    var renewalHeaders: [(String, String)] { get }

    /// Returns the session with fresh metadata.
    func anew() async throws(PluginError) -> Self

    /// Validates the answer to a refresh token and converts it to a result of the plugin protocol.
    func renewed(_ tokens: TokenResponse) async throws(OAuthError) -> PluginResult

    /// Whether an authority that answers a request for a device code with this error may know the client nevertheless.
    func mayKnowClient(after error: OAuthError) -> Bool

    /// Converts an error to one of the plugin protocol.
    func pluginError(_ error: OAuthError) -> PluginError
}

extension OAuthSession {
    /// By default, there are no additional headers.
    package var renewalHeaders: [(String, String)] { [] }
    /// Returns what a sign-in without a nonce would return.
    package func renewed(_ tokens: TokenResponse) async throws(OAuthError) -> PluginResult {
        try await accept(tokens, nonce: nil)
    }
    /// By default, the authority may know the client if another flow may succeed.
    package func mayKnowClient(after error: OAuthError) -> Bool { shouldTryNextFlow(after: error) }

    /// Signs a user in with the first of these flows that is possible here.
    package func signIn(_ flows: [Flow], _ user: any Conversation) async throws(PluginError) -> PluginResult {
        try await plainly { () async throws(OAuthError) in
            try await SignIn(client, by: self).run(flows, ConversingUser(conversation: user))
        }
    }

    /// Returns what the body returns; its errors become those of the plugin protocol.
    package func plainly<Value: Sendable>(
        _ body: () async throws(OAuthError) -> Value
    ) async throws(PluginError) -> Value {
        do throws(OAuthError) { return try await body() } catch { throw pluginError(error) }
    }

    /// Returns new tokens for a refresh token.
    ///
    /// If the cached metadata turns out to be outdated, the authority is asked again.
    package func renew(by refreshToken: Secret) async throws(PluginError) -> PluginResult {
        let tokens: TokenResponse
        do throws(OAuthError) {
            tokens = try await client.redeem(.refreshToken(refreshToken), headers: renewalHeaders)
        } catch {
            guard isRecalled, error.hasMoved else { throw pluginError(error) }
            return try await anew().renew(by: refreshToken)
        }
        return try await validated(tokens)
    }

    private func validated(_ tokens: TokenResponse) async throws(PluginError) -> PluginResult {
        do throws(OAuthError) {
            return try await renewed(tokens)
        } catch {
            guard isRecalled else { throw pluginError(error) }
            // The refresh token has been redeemed and its successor must not be lost, so the result is validated a
            // second time.
            return try await anew().validated(tokens)
        }
    }

    /// Returns the checks that succeeded, given valid metadata.
    ///
    /// - Parameters:
    ///   - authority: The URL that a proxy is chosen for.
    ///   - clockLead: The time in seconds by which the authority's clock is ahead; nil if it isn't known.
    /// - Returns: `authority` and, if the authority says so, `client`.
    /// - Throws: the reason why the authority doesn't work.
    package func probe(_ authority: String, clockLead: Double?) async throws(PluginError) -> PluginProbe {
        let isClientKnown = try await plainly(knowsClient)
        return PluginProbe(
            isClientKnown ? [.authority, .client] : [.authority],
            time: clockLead.map { Int(max(Date.now.timeIntervalSince1970 + $0, 0)) },
            proxy: transport.proxy(for: authority))
    }

    /// Whether the authority knows the client and its scopes; false if it doesn't say.
    ///
    /// A request for a device code must name both, and doesn't involve a user.
    private func knowsClient() async throws(OAuthError) -> Bool {
        guard let endpoint = client.endpoints.deviceAuthorization else { return false }
        do throws(OAuthError) {
            _ = try await client.deviceCode(from: endpoint)
            return true
        } catch {
            guard mayKnowClient(after: error) else { throw error }
            return false
        }
    }
}

/// The user, as reached through the host.
struct ConversingUser: SignInUser {
    let conversation: any Conversation

    /// Has the host open a page.
    func open(_ url: String, redirectURI: String) async -> UserReply {
        UserReply(await conversation.ask(.openURL(url: url, redirectURI: redirectURI)))
    }

    /// Has the host show a code.
    func show(_ code: DeviceAuthorization) async -> UserReply {
        UserReply(
            await conversation.ask(
                .showCode(
                    userCode: code.userCode, verificationURI: code.verificationURI, completeURI: code.completeURI,
                    message: code.message, expiresIn: code.expiresIn)))
    }

    /// Has the host show a progress message.
    func progress(_ message: String) async {
        await conversation.progress(message)
    }
}

extension UserReply {
    fileprivate init(_ reply: PluginReply) {
        self =
            switch reply {
            case .done, .answer: .done
            case .redirected(let address): .pasted(address)
            case .unsupported: .unavailable
            case .cancelled: .cancelled
            }
    }
}

extension Conversation {
    /// Opens an authority's end-session page (OpenID Connect RP-Initiated Logout 1.0, 2).
    ///
    /// - Throws: `unsupported` if no browser can be opened.
    package func endSession(at page: String) async throws(PluginError) {
        switch await ask(.openURL(url: page, redirectURI: nil)) {
        case .done, .redirected, .answer: return
        case .unsupported: throw PluginError(.unsupported, "no browser can be opened here")
        case .cancelled: throw PluginError(.cancelled, "the sign-out was cancelled")
        }
    }
}
