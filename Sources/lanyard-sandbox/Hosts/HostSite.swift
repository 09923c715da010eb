import Crypto
import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON
import Synchronization

/// A running host: its state, and the world whose users, settings and faults it shares.
struct HostSite: Sendable {
    let world: World
    let host: CodeHost

    var style: CodeHost.Style { host.style }

    func route(_ visit: Visit) async throws -> Response {
        switch (style, visit.segments) {
        case (_, []): .page(Pages.front(of: self))
        case (_, ["favicon.ico"]): Response(status: .noContent)
        case (.issuer, [".well-known", "openid-configuration"]),
            (.issuer, [".well-known", "oauth-authorization-server"]):
            discovery(visit)
        case (.gitea, [".well-known", "openid-configuration"]): giteaDiscovery(visit)
        case (.issuer, [".well-known", "oauth-protected-resource"]): resourceMetadata
        case (.issuer, ["oauth", "discovery", "keys"]), (.gitea, ["login", "oauth", "keys"]):
            .json(world.key.published)
        case (.issuer, ["oauth", "authorize"]), (.forge, ["login", "oauth", "authorize"]),
            (.gitea, ["login", "oauth", "authorize"]):
            authorize(visit)
        case (.issuer, ["oauth", "token"]), (.forge, ["login", "oauth", "access_token"]),
            (.gitea, ["login", "oauth", "access_token"]):
            try await token(visit)
        case (.issuer, ["oauth", "authorize_device"]), (.forge, ["login", "device", "code"]): deviceCode(visit)
        case (.issuer, ["oauth", "device"]), (.forge, ["login", "device"]): devicePage(visit)
        case (.issuer, ["oauth", "userinfo"]), (.gitea, ["login", "oauth", "userinfo"]): userInfo(visit)
        case (.issuer, ["oauth", "revoke"]): revoke(visit)
        case (.issuer, ["oauth", "logout"]): await logout(visit)
        case (.issuer, ["quill", "tokens"]): quillTokens(visit)
        case (.issuer, ["oauth", "register"]) where world.settings.offersRegistration: register(visit)
        case (.gitea, ["v2", "token"]), (.forge, ["token"]), (.issuer, ["jwt", "auth"]): imageToken(visit)
        case (.gitea, let path) where path.first == "v2", (.forge, let path) where path.first == "v2": images(visit)
        case (_, let path) where path.starts(with: packagesPath): packages(visit)
        case (.forge, ["api", "v3", "user"]): gitHubUser(visit)
        case (.forge, let path)
        where path.starts(with: ["api", "v3"]) && ["installation", "access_tokens", "app"].contains(path.last):
            await gitHubApp(visit, Array(path.dropFirst(2)))
        case (.forge, let path)
        where path.count == 5 && path[..<3] == ["api", "v3", "applications"] && path[4] == "token":
            deleteGitHubToken(visit, of: path[3])
        default: .page(Pages.nothingHere, status: .notFound)
        }
    }

    /// The made-up issuer that `lanyard plugin new` writes plugins for: it knows neither OAuth nor any standard.
    ///
    /// A code from 400 to 599 has it fail with that HTTP status.
    private func quillTokens(_ visit: Visit) -> Response {
        let isRenewal = visit.form["renewal"]?.hasPrefix("quill-again-") == true
        guard visit.method == .post, isRenewal || visit.form["code"] == "4242" else {
            let fault = visit.form["code"].flatMap { Int($0) }.flatMap { 400..<600 ~= $0 ? $0 : nil } ?? 403
            return .json(["error": "no tokens"], status: HTTPResponse.Status(code: fault))
        }
        return .json([
            "token": .string("quill-" + newSecret()), "seconds": 3600, "renewal": .string("quill-again-" + newSecret()),
            "user": "fob@quill.example",
        ])
    }

    /// Returns a refusal in this host's format; GitHub's have status 200.
    func answer(_ failure: HostError, _ visit: Visit) -> Response {
        var members: [String: JSONValue] = [
            "error": .string(failure.name(at: style)), "error_description": .string(failure.message),
        ]
        switch style {
        case .forge:
            members["error_uri"] = "https://docs.github.com/apps/managing-oauth-apps/troubleshooting"
            members["interval"] = failure.interval.map { .integer(Int64($0)) }
            return gitHubAnswer(members, visit)
        case .issuer where failure.error == HostError.badClient.error:
            return .json(.object(members), status: .unauthorized).challenging("Basic realm=\"Doorkeeper\"")
        case .issuer, .gitea: return .json(.object(members), status: .badRequest)
        }
    }

    /// Returns a form-encoded answer, or JSON if the request asks for it.
    func gitHubAnswer(_ members: [String: JSONValue], _ visit: Visit) -> Response {
        if visit.header("Accept")?.contains("application/json") == true { return .json(.object(members)) }
        let fields = members.sorted { $0.key < $1.key }
            .map { (name: $0.key, value: $0.value.string ?? $0.value.encodedText) }
        return Response(
            uncached: Form(fields).encoded, type: "application/x-www-form-urlencoded; charset=utf-8", status: .ok)
    }

    // A host's repositories, and the part of GitHub's API that identifies a user.
    //
    // Each organization has `/ORGANIZATION/hello.git`, which its members and guests may read and change. For everyone
    // else, it doesn't exist.

    func repository(_ visit: Visit) async -> Response {
        guard let token = visit.gitToken(at: style).flatMap(liveToken), isMeant(token, for: visit) else {
            return gitChallenge
        }
        let user = known(token.grant.signedIn.username)
        // Otherwise it is a GitHub App's own, which only the repositories that it is for take.
        guard user != nil || token.isOfInstallation else { return gitChallenge }
        visit.user = user?.username ?? token.grant.request.clientID
        guard user.map({ isThere(visit, for: $0) }) ?? !visit.climbs else {
            return .text("Repository not found.", status: .notFound)
        }
        guard mayUse(token, visit) else {
            return .text("The token lacks the scope that this needs.", status: .forbidden)
        }
        if visit.isForLargeFiles { return largeFiles(visit) }
        let root = world.home.repositories + "/\(host.name.rawValue).host"
        return await world.git.respond(to: visit, as: user?.login ?? "sandbox-app[bot]", root: root, making: true)
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
        case .forge where token.isOfInstallation:
            token.scopes.contains("contents:write") || !visit.isPush && token.scopes.contains("contents:read")
        case .forge: token.scopes.contains("repo") || token.grant.request.client.isApp
        }
    }

    private var gitChallenge: Response {
        let refusal = Response.text("Authentication failed.", status: .unauthorized)
            .challenging("Basic realm=\"\(host.realm)\"")
        guard style == .issuer else { return refusal }
        let metadata = "\(host.url)/.well-known/oauth-protected-resource"
        return refusal.challenging("Bearer realm=\"\(host.realm)\", resource_metadata=\"\(metadata)\"")
    }

    // MARK: GitHub's API

    func gitHubUser(_ visit: Visit) -> Response {
        let token = visit.bearer ?? visit.gitHubToken
        guard let token = token.flatMap(liveToken), let user = known(token.grant.signedIn.username) else {
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

/// A code host with repositories and a sign-in of its own, independent of Entra.
final class CodeHost: Sendable {
    enum Style: String, Sendable {
        /// A standard OpenID Connect issuer, with GitLab's paths and git remote.
        case issuer
        /// A GitHub Enterprise Server, with its endpoints and its deviations from the standards.
        case forge
        /// A Gitea or Forgejo, with the endpoints and errors that differ from the issuer's.
        case gitea
    }

    let name: RequestLog.Host
    let style: Style
    let ledger = Ledger<HostRequest>()
    private let port = Mutex(0)
    private let registered: Mutex<[HostClient]>
    /// The contents of large files, by their IDs.
    let largeFiles = Mutex<[String: ByteBuffer]>([:])

    init(_ name: RequestLog.Host, _ style: Style) {
        self.name = name
        self.style = style
        registered = Mutex(HostClient.builtIn(of: style))
    }

    var url: String { "https://localhost:\(port.withLock(\.self))" }
    func setPort(_ number: Int) { port.withLock { $0 = number } }

    /// What its git server calls itself in challenges.
    var realm: String {
        switch style {
        case .issuer: "GitLab"
        case .forge: "GitHub"
        case .gitea: name == .forgejo ? "Forgejo" : "Gitea"
        }
    }

    /// The name of the session cookie; hosts on one computer share cookies, whatever their ports.
    var sessionCookie: String { "lanyard_sandbox_\(name.rawValue)" }

    var clients: [HostClient] { registered.withLock(\.self) }
    func client(_ id: String) -> HostClient? { clients.first { $0.id == id } }
    func register(_ client: HostClient) { registered.withLock { $0.append(client) } }

    /// Has a Gitea or Forgejo know the app that these register by themselves, or not, as its administrator decides.
    func setDefaultApp(_ isThere: Bool) {
        guard style == .gitea else { return }
        registered.withLock { clients in
            clients.removeAll { $0.id == HostClient.defaultApp.id }
            if isThere { clients.append(.defaultApp) }
        }
    }

    /// Revokes all tokens and browser sessions of one user, or of everyone.
    func revoke(_ username: String?) {
        ledger.revoke(username)
        // The hosts know a revoked token no longer, unlike Entra.
        ledger.with { state in state.refreshTokens = state.refreshTokens.filter { !$0.value.isRevoked } }
    }
}

/// An error response of a host, or of AWS's services, with its standard name and GitHub's.
struct HostError: Error, Sendable {
    let error: String
    let gitHub: String
    let message: String
    let status: HTTPResponse.Status
    /// The new polling interval of a client that polled too fast.
    var interval: Int?
    /// Where to send it; nil if no redirect URI can be trusted, so that only the user sees it.
    var target: ReturnAddress?

    init(
        _ error: String, gitHub: String? = nil, _ message: String = "", status: HTTPResponse.Status = .badRequest
    ) {
        self.error = error
        self.gitHub = gitHub ?? error
        self.message = message
        self.status = status
    }

    func sent(to target: ReturnAddress) -> HostError {
        var failure = self
        failure.target = target
        return failure
    }

    func name(at style: CodeHost.Style) -> String {
        switch style {
        case .issuer: error
        case .forge: gitHub
        // Gitea returns this for codes, verifiers and refresh tokens alike.
        case .gitea: error == "invalid_grant" ? "unauthorized_client" : error
        }
    }
}

extension HostError {
    static let badClient = HostError(
        "invalid_client", gitHub: "incorrect_client_credentials",
        "The client is unknown, its secret is wrong, or it was sent the wrong way.")
    static let badCode = HostError(
        "invalid_grant", gitHub: "bad_verification_code", "The code passed is incorrect or expired.")
    static let badVerifier = HostError(
        "invalid_grant", gitHub: "bad_verification_code", "The code_verifier does not match the code_challenge.")
    static let badRedirect = HostError(
        "invalid_grant", gitHub: "redirect_uri_mismatch",
        "The redirect_uri must match the registered one and that of the authorization request.")
    static let badRefreshToken = HostError(
        "invalid_grant", gitHub: "bad_refresh_token", "The refresh token passed is incorrect, expired or revoked.")
    static let unknownGrantType = HostError("unsupported_grant_type", "This grant_type is not known here.")
    static let forbiddenGrantType = HostError(
        "unauthorized_client", gitHub: "device_flow_disabled", "The client is not registered for this flow.")
    static let badDeviceCode = HostError(
        "invalid_grant", gitHub: "incorrect_device_code", "The device_code provided is not valid.")
    static let expiredDeviceCode = HostError("expired_token", "The device_code has expired.")
    static let pending = HostError("authorization_pending", "The authorization request is still pending.")
    static let denied = HostError("access_denied", "The user denied the request.")
    static let badTarget = HostError("invalid_target", "The resource is not one of this host.")
    static let loginRequired = HostError("login_required", "Nobody is signed in, and no page may be shown.")
    static let consentRequired = HostError("consent_required", "Consent is needed, and no page may be shown.")

    static func slowDown(_ interval: Int) -> HostError {
        var failure = HostError("slow_down", "Too many requests: wait longer between them.")
        failure.interval = interval
        return failure
    }

    static func badScope(_ scope: String) -> HostError {
        HostError("invalid_scope", "The scope \(scope) does not exist.")
    }

    static func badRequest(_ message: String) -> HostError { HostError("invalid_request", message) }
    static func missing(_ parameter: String) -> HostError { badRequest("The parameter \(parameter) is missing.") }
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

extension Ledger<HostRequest>.AccessToken {
    /// Whether it is a GitHub App's own token rather than a user's.
    fileprivate var isOfInstallation: Bool {
        scopes.contains { $0.hasPrefix("contents:") || $0.hasPrefix("metadata:") }
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
