import Synchronization

/// A host beside the Entra that signs people in by itself and has repositories for them.
final class CodeHost: Sendable {
    enum Style: String, Sendable {
        /// A plain OpenID Connect issuer, with the paths and the git remote of a GitLab.
        case issuer
        /// A GitHub Enterprise Server, by its endpoints and its deviations from the standards.
        case forge
        /// A Gitea, by the endpoints and errors in which it differs from the issuer.
        case gitea
    }

    let style: Style
    /// Browser sessions and consent; the rest is in this host's own state.
    let ledger = Ledger()
    private let port = Mutex(0)
    private let state: Mutex<HostState>

    init(_ style: Style) {
        self.style = style
        state = Mutex(HostState(clients: HostClient.builtIn(of: style)))
    }

    var url: String { "https://localhost:\(port.withLock(\.self))" }
    func setPort(_ number: Int) { port.withLock { $0 = number } }

    /// Hosts on one computer share its cookies, whatever their ports.
    var sessionCookie: String { "lanyard_sandbox_\(style.rawValue)" }

    func with<Result: Sendable>(_ body: (inout HostState) -> Result) -> Result {
        state.withLock { state in
            body(&state)
        }
    }

    func client(_ id: String) -> HostClient? { with { $0.clients.first { $0.id == id } } }

    /// Ends all tokens and browser sessions of one user, or of everyone.
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

/// What a host remembers while it runs.
struct HostState: Sendable {
    var clients: [HostClient]
    var interactions: [String: HostInteraction] = [:]
    var codes: [String: HostCode] = [:]
    /// By user code.
    var devices: [String: HostDevice] = [:]
    var refreshTokens: [String: HostRefreshToken] = [:]
    var accessTokens: [String: HostAccessToken] = [:]

    /// Ends every token that descends from one sign-in.
    mutating func end(lineage: String) {
        refreshTokens = refreshTokens.filter { $0.value.grant.lineage != lineage }
        endAccess(lineage: lineage)
    }

    mutating func endAccess(lineage: String) {
        accessTokens = accessTokens.filter { $0.value.grant.lineage != lineage }
    }
}
