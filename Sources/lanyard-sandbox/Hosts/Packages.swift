import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON

/// The hosts' packages and images, as far as programs ask for them before they get one: each host has one of each kind.
extension HostSite {
    private typealias Token = Ledger<HostRequest>.AccessToken

    /// What the URLs of the packages begin with: those of GitLab's API, Gitea's, and a GitHub Enterprise Server's.
    var packagesPath: [String] {
        switch style {
        case .issuer: ["api", "v4", "projects", "1", "packages"]
        case .gitea: ["api", "packages", "contoso"]
        case .forge: ["_registry"]
        }
    }

    /// The scopes of tokens that open packages, any of which will do; nil at Gitea, whose tokens have all permissions.
    private var packageScopes: [String]? {
        switch style {
        case .issuer: ["read_api", "api"]
        case .gitea: nil
        case .forge: ["read:packages", "write:packages"]
        }
    }

    func packages(_ visit: Visit) -> Response {
        guard let (user, scopes) = packageUser(visit) else {
            return .json(["message": "401 Unauthorized"], status: .unauthorized)
                .challenging("Basic realm=\"\(packagesRealm)\"")
        }
        visit.user = user
        if let wanted = packageScopes, let scopes, !wanted.contains(where: scopes.contains) {
            return .json(
                ["error": "insufficient_scope", "scope": .string(wanted.joined(separator: " "))], status: .forbidden)
        }
        let path = visit.segments.dropFirst(packagesPath.count)
        let place = host.url + "/" + visit.segments.prefix(packagesPath.count + 1).joined(separator: "/")
        guard let format = path.first,
            let answer = SandboxPackage.answer(format, Array(path.dropFirst()), at: place)
        else { return .json(["message": "404 Not found"], status: .notFound) }
        return answer
    }

    private var packagesRealm: String {
        switch style {
        case .issuer: "GitLab Packages Registry"
        case .gitea: "Gitea Package API"
        case .forge: "GitHub Package Registry"
        }
    }

    /// Returns whose request it is, and the scopes of the token; nil scopes are all.
    ///
    /// GitLab takes tokens of OAuth as Bearer only. With a user name, it takes a personal access token, and that with the
    /// name of its user; the sandbox's is that name after `glpat-`.
    private func packageUser(_ visit: Visit) -> (name: String, scopes: [String]?)? {
        switch (style, visit.authorization) {
        case (.issuer, .basic(let name, let text)):
            world.directory.users.first { $0.login == name && text == "glpat-\(name)" }.map { ($0.username, nil) }
        case (_, .basic(_, let text)), (_, .bearer(let text)):
            liveToken(text).map { ($0.grant.signedIn.username, $0.scopes) }
        default: nil
        }
    }

    // MARK: Images

    private static let image = "contoso/\(SandboxPackage.name)"

    /// The only thing that the registry's tokens are for.
    private static let pull = "repository:\(image):pull"

    /// Where the registry's tokens come from, and what clients have to name there.
    private var imageRealm: (url: String, service: String) {
        switch style {
        case .issuer: ("\(host.url)/jwt/auth", "container_registry")
        case .gitea: ("\(host.url)/v2/token", "container_registry")
        case .forge: ("\(host.url)/token", "ghcr.io")
        }
    }

    /// Gives a token of the registry's own for one of the host's (docs.docker.com, token authentication).
    func imageToken(_ visit: Visit) -> Response {
        guard case .basic(let name, let text)? = visit.authorization, let token = liveToken(text),
            style != .issuer || name == "oauth2", visit.query["service"] == imageRealm.service
        else {
            return .json(["errors": [["code": "UNAUTHORIZED"]]], status: .unauthorized)
                .challenging("Basic realm=\"\(host.realm)\"")
        }
        visit.user = token.grant.signedIn.username
        let needed = style == .issuer ? ["read_registry"] : packageScopes
        guard needed.map({ $0.contains(where: token.scopes.contains) }) ?? true else {
            return .json(["errors": [["code": "DENIED", "message": "access forbidden"]]], status: .forbidden)
        }
        // A scope that isn't the client's to have is left out of the token.
        let asked = visit.query["scope"] == Self.pull ? [Self.pull] : []
        let own = "registry-" + newSecret()
        host.ledger.with {
            $0.accessTokens[own] = .init(grant: token.grant, scopes: asked, expires: .now.addingTimeInterval(300))
        }
        return .json(["token": .string(own), "expires_in": 300])
    }

    /// The images, for a token of the registry's own.
    func images(_ visit: Visit) -> Response {
        let token = visit.bearer.flatMap { $0.hasPrefix("registry-") ? liveToken($0) : nil }
        let path = Array(visit.segments.dropFirst())
        guard let token, path.isEmpty || token.scopes == [Self.pull] else {
            let (url, service) = imageRealm
            let challenge = "Bearer realm=\"\(url)\",service=\"\(service)\""
            return .json(["errors": [["code": "UNAUTHORIZED"]]], status: .unauthorized)
                .challenging(path.isEmpty ? challenge : challenge + ",scope=\"\(Self.pull)\"")
        }
        visit.user = token.grant.signedIn.username
        return switch path {
        case []: .json([:])
        case Self.image.split(separator: "/").map(String.init) + ["tags", "list"]:
            .json(["name": .string(Self.image), "tags": ["1.0"]])
        default: .json(["errors": [["code": "NAME_UNKNOWN"]]], status: .notFound)
        }
    }
}
