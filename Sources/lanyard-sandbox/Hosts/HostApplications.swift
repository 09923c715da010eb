import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON
import Synchronization

// Applications, which get tokens without a user.

extension HostClient {
    static let exchangeGrant = "urn:ietf:params:oauth:grant-type:token-exchange"
    private static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    /// The issuer's application: it proves itself by a key that the issuer knows, or by a token of the sandbox's CI service, which
    /// the issuer trusts.
    static let robot = HostClient(
        id: "sandbox-robot", name: "sandbox application", secret: newSecret(), redirectURIs: [],
        grants: ["client_credentials", exchangeGrant])

    /// Whether an application proves itself by a signed token, or has one exchanged.
    static func isProvedByToken(_ visit: Visit) -> Bool {
        visit.form["client_assertion"] != nil || visit.form["grant_type"] == exchangeGrant
    }

    static func isAssertion(_ visit: Visit) -> Bool { visit.form["client_assertion_type"] == assertionType }
}

/// The issuer's checks of `private_key_jwt` (OpenID Connect Core 1.0, 9), of assertions of others (RFC 7523, 2.2), and of
/// tokens to exchange (RFC 8693).
extension HostSite {
    func redeemToken(_ visit: Visit) async throws(HostError) -> Issue {
        let robot = HostClient.robot
        guard style == .issuer, visit.form["client_id"] == robot.id, visit.form["client_secret"] == nil,
            visit.authorization == nil
        else { throw .badClient }
        switch visit.form["grant_type"] {
        case HostClient.exchangeGrant:
            guard visit.form["subject_token_type"] == "urn:ietf:params:oauth:token-type:jwt" else {
                throw .badRequest("The subject_token_type is none that is known here.")
            }
            guard let token = visit.form["subject_token"], await isTrusted(token) else {
                throw .badRequest("The subject_token is not of an issuer, a subject and an audience that is trusted.")
            }
            guard [nil, "sandbox-service"].contains(visit.form["audience"]) else { throw .badTarget }
        case "client_credentials":
            guard HostClient.isAssertion(visit), let token = visit.form["client_assertion"] else { throw .badClient }
            let isOwn = await isOwnAssertion(token, of: robot, to: host.url + visit.plainPath)
            let isGood = if isOwn { true } else { await isTrusted(token) }
            guard isGood else { throw .badClient }
        default: throw .unknownGrantType
        }
        let scopes = try scopes(visit.form["scope"])
        let request = HostRequest(client: robot, target: nil, scopes: scopes, resources: try resources(of: visit.form))
        let grant = Grant(request: request, signedIn: SignedIn(username: robot.id, at: .now))
        return Issue(grant: grant, scopes: scopes, isRenewal: true)
    }

    /// Whether an application signed an assertion itself, for this endpoint, for a short while and for the first time.
    private func isOwnAssertion(_ token: String, of client: HostClient, to endpoint: String) async -> Bool {
        guard let claims = await world.applicationCertificate.claims(of: token, by: "RS256"),
            claims["iss"]?.string == client.id, claims["sub"]?.string == client.id,
            let audience = claims["aud"]?.string, [endpoint, host.url].contains(audience), isInTime(claims),
            let id = claims["jti"]?.string
        else { return false }
        return world.assertions.withLock { $0.insert(id).inserted }
    }

    /// Whether a token of the sandbox's CI service is for this issuer, or for everything that trusts Azure Pipelines.
    private func isTrusted(_ token: String) async -> Bool {
        guard let claims = await world.key.verify(token) else { return false }
        return claims["iss"]?.string == world.workloadIssuer && claims["sub"]?.string == World.workloadSubject
            && [host.url, AssertionCheck.federatedAudience].contains(claims["aud"]?.string) && isInTime(claims)
    }

    private func isInTime(_ claims: Claims) -> Bool {
        let now = Date.now.unix
        guard let start = claims["iat"]?.integer, let end = claims["exp"]?.integer else { return false }
        return start <= now && end > now && end - start <= 600
    }
}

/// GitHub Apps: the API that finds an installation and gives tokens for its repositories.
extension HostSite {
    /// The number of `hello`, which was called `renamed` once.
    private static let number: Int64 = 9
    private static let unknownApp = "Integration not found"
    /// What the App may do where it is installed: everywhere but at Fabrikam, for `hello` alone.
    private static let permissions = ["contents": "write", "metadata": "read", "packages": "read"]

    func gitHubApp(_ visit: Visit, _ path: [String]) async -> Response {
        guard let app = host.clients.first(where: \.isApp) else { return Self.refusal("Not Found", .notFound) }
        if let fault = await fault(ofProof: visit.bearer ?? "", of: app) {
            return Self.refusal(fault, fault == Self.unknownApp ? .notFound : .unauthorized)
        }
        let tenants = world.directory.tenants.filter { $0.kind == .organization }.map(\.shortName)
        switch (visit.method, path.count) {
        case (.get, 1): return .json(["name": .string(app.name), "client_id": .string(app.id)])
        case (.get, 4) where path[0] == "repos" && path[2] == "renamed":
            var moved = Self.refusal("Moved Permanently", .movedPermanently)
            moved.headers[.location] = "\(host.url)/api/v3/repositories/\(Self.number)/installation"
            return moved
        case (.get, 3) where path[0] == "repositories" && path[1] == String(Self.number):
            return .json(["id": 1, "account": ["login": .string(tenants[0])], "repository_selection": "selected"])
        case (.get, 4) where path[0] == "repos" && path[2] == "hello", (.get, 3) where path[0] == "orgs":
            guard let number = tenants.firstIndex(of: path[1]), path[1] != "fabrikam" else {
                return Self.refusal("Not Found", .notFound)
            }
            return .json([
                "id": .integer(Int64(number + 1)), "account": ["login": .string(path[1])],
                "repository_selection": "selected",
            ])
        case (.post, 4) where path[0] == "app" && path[3] == "access_tokens":
            guard let number = Int(path[2]), tenants.indices.contains(number - 1) else {
                return Self.refusal("Not Found", .notFound)
            }
            return installationToken(visit, app, at: tenants[number - 1])
        default: return Self.refusal("Not Found", .notFound)
        }
    }

    /// What is wrong with the token by which an App proves itself, in GitHub's words; nil if nothing is.
    private func fault(ofProof token: String, of app: HostClient) async -> String? {
        guard let claims = await world.applicationCertificate.claims(of: token, by: "RS256") else {
            return "A JSON web token could not be decoded"
        }
        let now = Date.now.unix
        guard claims["iss"]?.string == app.id else { return Self.unknownApp }
        guard let start = claims["iat"]?.integer, start <= now else {
            return "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
        }
        guard let end = claims["exp"]?.integer, end > now else {
            return "'Expiration time' claim ('exp') must be a numeric value representing the future time"
        }
        return end <= now + 600 ? nil : "'Expiration time' claim ('exp') is too far in the future"
    }

    private func installationToken(_ visit: Visit, _ app: HostClient, at owner: String) -> Response {
        let asked = JSONValue(bytes: visit.body.utf8)
        let ids = asked?["repository_ids"]?.elements.compactMap(\.integer)
        let names =
            ids.map { $0.map { $0 == Self.number ? "hello" : "" } }
            ?? asked?["repositories"]?.elements.compactMap(\.string)
        guard names?.allSatisfy({ $0 == "hello" }) ?? true else {
            return Self.refusal(
                "There is at least one repository that does not exist or is not accessible to the parent installation.",
                .unprocessableContent)
        }
        let granted = asked?["permissions"]?.members?.compactMapValues(\.string) ?? Self.permissions
        guard granted.allSatisfy({ [$0.value, "write"].contains(Self.permissions[$0.key]) }) else {
            return Self.refusal(
                "The permissions requested are not granted to this installation.", .unprocessableContent)
        }
        let scopes = granted.map { "\($0.key):\($0.value)" }.sorted()
        let urls = names?.map { "\(host.url)/\(owner)/\($0).git" } ?? ["\(host.url)/\(owner)"]
        let request = HostRequest(client: app, target: nil, scopes: scopes, resources: urls)
        let (token, end) = ("ghs_" + newSecret(bytes: 300), Date.now.addingTimeInterval(3600))
        host.ledger.with { state in
            state.accessTokens[token] = .init(
                grant: Grant(request: request, signedIn: SignedIn(username: app.id, at: .now)), scopes: scopes,
                expires: end)
        }
        visit.user = app.id
        return .json(
            [
                "token": .string(token), "expires_at": .string(end.formatted(.iso8601)),
                "permissions": .object(granted.mapValues(JSONValue.string)),
                "repository_selection": names == nil ? "all" : "selected",
            ], status: .created)
    }

    private static func refusal(_ message: String, _ status: HTTPResponse.Status) -> Response {
        .json(["message": .string(message), "status": .string(String(status.code))], status: status)
    }
}
