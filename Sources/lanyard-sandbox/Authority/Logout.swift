import Hummingbird
import JSON

/// Handles the end-session endpoint (OpenID Connect RP-Initiated Logout 1.0).
extension World {
    func logout(_ visit: Visit, at authority: AuthorityPath) async -> Response {
        let parameters = visit.parameters
        var username = parameters["logout_hint"]
        var client: Client?
        if let hint = parameters["id_token_hint"], let claims = await key.verify(hint) {
            username = username ?? claims["preferred_username"]?.string ?? claims["emails"]?.elements.first?.string
            client = claims["aud"]?.string.flatMap(directory.client)
        }
        if let session = visit.cookie(Self.sessionCookie) { ledger.forget(username, inSession: session) }
        visit.user = username
        guard let target = parameters["post_logout_redirect_uri"], accepts(target, for: client, at: authority) else {
            return .page(Pages.signedOut)
        }
        let state = parameters["state"].map { (target.contains("?") ? "&" : "?") + Form([("state", $0)]).encoded }
        return .redirect(to: target + (state ?? ""))
    }

    /// Whether the target is a redirect URI of the client, or of any client of this authority if the request names
    /// none.
    private func accepts(_ target: String, for client: Client?, at authority: AuthorityPath) -> Bool {
        let candidates =
            client.map { [$0] } ?? directory.clients.filter { $0.tenant == authority.realm.b2cTenant?.domain }
        return candidates.contains { $0.accepts(redirect: target) }
    }
}
