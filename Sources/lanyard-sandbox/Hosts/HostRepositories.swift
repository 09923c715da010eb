import Crypto
import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON

/// A host's repositories, and the part of GitHub's API that identifies a user.
///
/// Each organization has `/ORGANIZATION/hello.git`, which its members and guests may read and change. For everyone
/// else, it doesn't exist.
extension HostSite {
    func repository(_ visit: Visit) async -> Response {
        guard let token = visit.gitToken(at: style).flatMap(liveToken), isMeant(token, for: visit),
            let user = person(token.grant.signedIn.username)
        else { return gitChallenge }
        visit.user = user.username
        guard isThere(visit, for: user) else { return .text("Repository not found.", status: .notFound) }
        guard mayUse(token, visit) else {
            return .text("The token lacks the scope that this needs.", status: .forbidden)
        }
        let root = world.home.repositories + "/\(style.rawValue).host"
        return await world.git.respond(to: visit, as: user.login, root: root, making: true)
    }

    func liveToken(_ text: String) -> Ledger<HostRequest>.AccessToken? {
        host.ledger.with { $0.accessTokens[text] }.flatMap { $0.isAlive ? $0 : nil }
    }

    /// Whether the token's resources, if any, include this URL.
    private func isMeant(_ token: Ledger<HostRequest>.AccessToken, for visit: Visit) -> Bool {
        let url = host.url + visit.plainPath
        let resources = token.grant.request.resources
        return resources.isEmpty
            || resources.contains { url == $0 || url.hasPrefix($0.hasSuffix("/") ? $0 : $0 + "/") }
    }

    private func isThere(_ visit: Visit, for user: User) -> Bool {
        guard !visit.climbs, visit.segments[1] == "hello.git" else { return false }
        return world.directory.tenants.contains { tenant in
            tenant.kind == .organization && tenant.shortName == visit.segments[0]
                && world.directory.objectID(of: user, in: tenant) != nil
        }
    }

    /// Whether the token's scopes allow the request; a GitHub App's token has none, because its permissions depend on
    /// where the App is installed.
    private func mayUse(_ token: Ledger<HostRequest>.AccessToken, _ visit: Visit) -> Bool {
        switch style {
        case .issuer: token.scopes.contains(visit.isPush ? "write_repository" : "read_repository")
        case .gitea: true
        case .forge: token.scopes.contains("repo") || token.grant.request.client.isApp
        }
    }

    private var gitChallenge: Response {
        let refusal = Response.text("Authentication failed.", status: .unauthorized)
        switch style {
        case .issuer:
            let metadata = "\(host.url)/.well-known/oauth-protected-resource"
            return refusal.challenging("Basic realm=\"GitLab\"")
                .challenging("Bearer realm=\"GitLab\", resource_metadata=\"\(metadata)\"")
        case .forge: return refusal.challenging("Basic realm=\"GitHub\"")
        case .gitea: return refusal.challenging("Basic realm=\"Gitea\"")
        }
    }

    // MARK: GitHub's API

    func gitHubUser(_ visit: Visit) -> Response {
        let token = visit.bearer ?? visit.gitHubToken
        guard let token = token.flatMap(liveToken), let user = person(token.grant.signedIn.username) else {
            let message: JSONValue = token == nil ? "Requires authentication" : "Bad credentials"
            return .json(["message": message, "status": "401"], status: .unauthorized)
        }
        visit.user = user.username
        var response = Response.json([
            "login": .string(user.login), "id": .integer(user.number), "type": "User", "name": .string(user.name),
            "html_url": .string("\(host.url)/\(user.login)"),
        ])
        if let name = HTTPField.Name("X-OAuth-Scopes") {
            response.headers[name] = token.scopes.joined(separator: ", ")
        }
        return response
    }

    /// Answers `DELETE /applications/CLIENT/token`, which revokes a token if the client secret is right.
    func deleteGitHubToken(_ visit: Visit, of clientID: String) -> Response {
        guard visit.method == .delete, case .basic(clientID, let secret)? = visit.authorization,
            let client = host.client(clientID), client.secret == secret
        else { return .json(["message": "Not Found", "status": "404"], status: .notFound) }
        let token = JSONValue(bytes: visit.body.utf8)?["access_token"]?.string ?? ""
        let isKnown = host.ledger.with { state in
            guard let grant = state.accessTokens[token]?.grant, grant.request.clientID == clientID else { return false }
            state.end(lineage: grant.lineage)
            return true
        }
        guard isKnown else {
            return .json(["message": "Validation Failed", "status": "422"], status: .unprocessableContent)
        }
        return Response(status: .noContent)
    }
}

extension User {
    /// The user's name at the hosts, such as `alice_contoso`.
    var login: String {
        let name = username.prefix { $0 != "@" }
        return "\(name)_\(tenant.prefix { $0 != "." })"
    }

    /// A stable number for the user, like GitHub's IDs.
    var number: Int64 {
        SHA256.hash(data: Data(id.utf8)).prefix(3).reduce(1) { $0 << 8 | Int64($1) }
    }
}

extension Visit {
    /// Whether the request comes from git: `/OWNER/NAME.git/…`.
    var isForRepository: Bool { segments.count > 2 && segments[1].hasSuffix(".git") }

    /// The token of `Authorization: Bearer TOKEN`; nil if there is none.
    var bearer: String? {
        guard case .bearer(let token)? = authorization else { return nil }
        return token
    }

    fileprivate var gitHubToken: String? {
        guard case .token(let token)? = authorization else { return nil }
        return token
    }

    /// Returns the token in the form that this host's git remote accepts.
    ///
    /// All accept Basic, GitHub and Gitea with any name, GitLab with `oauth2`; all but GitHub also accept Bearer.
    fileprivate func gitToken(at style: CodeHost.Style) -> String? {
        switch (style, authorization) {
        case (.issuer, .basic("oauth2", let token)), (.forge, .basic(_, let token)), (.gitea, .basic(_, let token)),
            (.issuer, .bearer(let token)), (.gitea, .bearer(let token)):
            token
        default: nil
        }
    }
}
