import Synchronization

/// A code host with repositories and a sign-in of its own, independent of Entra.
final class CodeHost: Sendable {
    enum Style: String, Sendable {
        /// A standard OpenID Connect issuer, with GitLab's paths and git remote.
        case issuer
        /// A GitHub Enterprise Server, with its endpoints and its deviations from the standards.
        case forge
        /// A Gitea, with the endpoints and errors that differ from the issuer's.
        case gitea
    }

    let style: Style
    let ledger = Ledger<HostRequest>()
    private let port = Mutex(0)
    private let registered: Mutex<[HostClient]>

    init(_ style: Style) {
        self.style = style
        registered = Mutex(HostClient.builtIn(of: style))
    }

    var url: String { "https://localhost:\(port.withLock(\.self))" }
    func setPort(_ number: Int) { port.withLock { $0 = number } }

    /// The name of the session cookie; hosts on one computer share cookies, whatever their ports.
    var sessionCookie: String { "lanyard_sandbox_\(style.rawValue)" }

    var clients: [HostClient] { registered.withLock(\.self) }
    func client(_ id: String) -> HostClient? { clients.first { $0.id == id } }
    func register(_ client: HostClient) { registered.withLock { $0.append(client) } }

    /// Revokes all tokens and browser sessions of one user, or of everyone.
    func revoke(_ username: String?) {
        ledger.revoke(username)
        // The hosts know a revoked token no longer, unlike Entra.
        ledger.with { state in state.refreshTokens = state.refreshTokens.filter { !$0.value.isRevoked } }
    }
}
