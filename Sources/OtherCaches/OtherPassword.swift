import Addresses
public import CredentialProtocol
public import Secrets
public import TokenStore

/// A git password as another program keeps it.
public struct OtherPassword: Sendable, Equatable {
    /// Where git uses it; host and scheme are there.
    public var request: CredentialRequest

    /// Takes a password that git's own helper stored; nil where its host is none.
    public init?(_ listed: PasswordStore.Listed) {
        guard let host = RequestHost(listed.query.host), case .password(let secret) = listed.password.proof else {
            return nil
        }
        request = CredentialRequest()
        (request.scheme, request.host, request.path) = (listed.query.scheme, host, listed.query.path)
        (request.username, request.password) = (listed.password.username, secret)
        request.passwordExpiry = listed.password.expiresOn.map(Int64.init)
        request.oauthRefreshToken = listed.password.oauthRefreshToken
    }

    /// Reads an item of Git Credential Manager: `service` is `git:` and a URL.
    ///
    /// - Throws: `programsOwn` for a refresh token it keeps beside a password, `malformed` for what is no password of git's.
    public init(gcmItem attributes: [String: String], secret: Secret?) throws(SkipReason) {
        guard let service = attributes["service"], service.hasPrefix("git:"), let secret,
            let account = attributes["account"], secret.isPassword, !account.isEmpty
        else { throw .malformed }
        var lines = Attributes()
        do {
            try lines.append("url", String(service.dropFirst(4)))
            try lines.append("username", account)
            request = try CredentialRequest(lines)
        } catch {
            throw .malformed
        }
        guard let host = request.host else { throw .malformed }
        var path = request.path ?? ""
        while path.hasSuffix("/") { path.removeLast() }
        // Bitbucket's, GitLab's and the generic provider's own ways to file them.
        let isRefreshToken =
            path.hasSuffix("refresh_token") || host.name.hasPrefix("refresh_token.")
            || host.name.hasPrefix("oauth-refresh-token.")
        guard !isRefreshToken else { throw .programsOwn }
        request.path = path.isEmpty ? nil : path
        request.password = secret
    }
}

extension SkipReason: Error {}

extension Secret {
    /// Whether git could have it as a line of its protocol.
    fileprivate var isPassword: Bool {
        let text = reveal()
        return !text.isEmpty && text.utf8.count < AttributeParser.longestLine
            && !text.utf8.contains { $0 == 0 || $0 == 0x0A }
    }
}
