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
    /// Browser sessions and consent; everything else is in this host's own state.
    let ledger = Ledger()
    private let port = Mutex(0)
    private let state: Mutex<HostState>

    init(_ style: Style) {
        self.style = style
        state = Mutex(HostState(clients: HostClient.builtIn(of: style)))
    }

    var url: String { "https://localhost:\(port.withLock(\.self))" }
    func setPort(_ number: Int) { port.withLock { $0 = number } }

    /// The name of the session cookie; hosts on one computer share cookies, whatever their ports.
    var sessionCookie: String { "lanyard_sandbox_\(style.rawValue)" }

    func with<Result: Sendable>(_ body: (inout HostState) -> Result) -> Result {
        state.withLock { state in
            body(&state)
        }
    }

    func client(_ id: String) -> HostClient? { with { $0.clients.first { $0.id == id } } }

    /// Revokes all tokens and browser sessions of one user, or of everyone.
    func revoke(_ username: String?) {
        ledger.revoke(username)
        let wanted = username?.lowercased()
        func isMeant(_ grant: HostGrant) -> Bool { wanted == nil || grant.signedIn.username.lowercased() == wanted }
        with { state in
            state.refreshTokens = state.refreshTokens.filter { !isMeant($0.value.grant) }
            state.accessTokens = state.accessTokens.filter { !isMeant($0.value.grant) }
            state.interactions = [:]
        }
    }
}

/// A host's state.
struct HostState: Sendable {
    var clients: [HostClient]
    var interactions: [String: HostInteraction] = [:]
    var codes: [String: HostCode] = [:]
    /// Pending devices by user code.
    var devices: [String: HostDevice] = [:]
    var refreshTokens: [String: HostRefreshToken] = [:]
    var accessTokens: [String: HostAccessToken] = [:]

    /// Revokes all tokens of one sign-in.
    mutating func end(lineage: String) {
        refreshTokens = refreshTokens.filter { $0.value.grant.lineage != lineage }
        endAccess(lineage: lineage)
    }

    mutating func endAccess(lineage: String) {
        accessTokens = accessTokens.filter { $0.value.grant.lineage != lineage }
    }
}
