import Addresses
public import Rules
public import Secrets
public import TokenStore

/// A git password from another program's storage.
public struct OtherPassword: Sendable, Equatable {
    /// Where git uses it; always with a host and a scheme.
    public var request: CredentialRequest
    /// The password, with its user name and expiry.
    public var stored: StoredPassword

    /// Converts a password that git's own helper stored; nil if its host is invalid.
    public init?(_ listed: PasswordStore.Listed) {
        guard let host = RequestHost(listed.query.host), case .password = listed.password.proof else { return nil }
        request = CredentialRequest()
        (request.scheme, request.host, request.path) = (listed.query.scheme, host, listed.query.path)
        request.username = listed.password.username
        stored = listed.password
    }

    init(_ url: RequestURL, username: String, _ password: Secret) {
        request = CredentialRequest(url)
        request.username = username
        request.path = nil
        stored = StoredPassword(username: username, proof: .password(password))
    }

    /// Converts an item of Git Credential Manager, whose `service` is `git:` and a URL.
    ///
    /// - Throws: `programsOwn` for a refresh token that is stored beside a password, `malformed` if it isn't a git
    ///   password.
    public init(gcmItem attributes: [String: String], secret: Secret?) throws(SkipReason) {
        guard let service = attributes["service"], service.hasPrefix("git:"), let secret,
            let account = attributes["account"], secret.isPassword, !account.isEmpty, !account.hasControlCharacter,
            let url = try? RequestURL(String(service.dropFirst(4)))
        else { throw .malformed }
        self.init(url, username: account, secret)
        var path = url.path ?? ""
        while path.hasSuffix("/") { path.removeLast() }
        // Bitbucket, GitLab and the generic provider each name them differently.
        let isRefreshToken =
            path.hasSuffix("refresh_token") || url.host.name.hasPrefix("refresh_token.")
            || url.host.name.hasPrefix("oauth-refresh-token.")
        guard !isRefreshToken else { throw .programsOwn }
        request.path = path.isEmpty ? nil : path
    }
}

extension SkipReason: Error {}

extension Secret {
    /// Whether it fits on a line of git's protocol.
    var isPassword: Bool {
        let text = reveal()
        return !text.isEmpty && text.utf8.count < AttributeParser.longestLine
            && !text.utf8.contains { $0 == 0 || $0 == 0x0A }
    }
}
