import Addresses
public import Rules
public import Secrets
public import TokenStore

/// A git password as another program keeps it.
public struct OtherPassword: Sendable, Equatable {
    /// Where git uses it; host and scheme are there.
    public var request: CredentialRequest
    /// The password, its user name and its end.
    public var stored: StoredPassword

    /// Takes a password that git's own helper stored; nil if its host is none.
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

    /// Reads an item of Git Credential Manager: `service` is `git:` and a URL.
    ///
    /// - Throws: `programsOwn` for a refresh token it keeps beside a password, `malformed` for what is no password of git's.
    public init(gcmItem attributes: [String: String], secret: Secret?) throws(SkipReason) {
        guard let service = attributes["service"], service.hasPrefix("git:"), let secret,
            let account = attributes["account"], secret.isPassword, !account.isEmpty
        else { throw .malformed }
        guard let url = try? RequestURL(String(service.dropFirst(4))), !account.hasControlCharacter else {
            throw .malformed
        }
        request = CredentialRequest(url)
        request.username = account
        stored = StoredPassword(username: account, proof: .password(secret))
        var path = request.path ?? ""
        while path.hasSuffix("/") { path.removeLast() }
        // Bitbucket's, GitLab's and the generic provider's own ways to file them.
        let isRefreshToken =
            path.hasSuffix("refresh_token") || url.host.name.hasPrefix("refresh_token.")
            || url.host.name.hasPrefix("oauth-refresh-token.")
        guard !isRefreshToken else { throw .programsOwn }
        request.path = path.isEmpty ? nil : path
    }
}

extension SkipReason: Error {}

extension Secret {
    /// Whether git could have it as a line of its protocol.
    var isPassword: Bool {
        let text = reveal()
        return !text.isEmpty && text.utf8.count < AttributeParser.longestLine
            && !text.utf8.contains { $0 == 0 || $0 == 0x0A }
    }
}
