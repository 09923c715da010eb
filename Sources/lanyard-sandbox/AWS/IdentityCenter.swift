import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON
import Synchronization

/// AWS's IAM Identity Center: its OIDC service, its page to sign in at, and its portal.
///
/// It is stricter than AWS: a request must have exactly the members that AWS's own programs send.
struct IdentityCenter: Sendable {
    /// A registered client.
    struct Client: Sendable {
        let secret: String
        let scopes: [String]
        /// Empty for a client of AWS's programs for device codes.
        let grants: [String]
        let redirects: [String]
        let end: Int64
    }

    /// A client's request for a sign-in.
    struct Request: ClientRequest {
        let clientID: String
        var target: ReturnAddress?
        /// The digest of the verifier; empty for a device.
        var challenge = ""
        var prompts: Set<String> { [] }
    }

    /// The clients, codes, devices and tokens.
    final class State: Sendable {
        let ledger = Ledger<Request>()
        let clients = Mutex<[String: Client]>([:])
    }

    /// The start URL, which no request goes to.
    static let startURL = "https://contoso.awsapps.com/start"
    /// The lifetime of a client, in seconds: 90 days.
    private static let clientLifetime: Int64 = 7_776_000
    private static let scope = "sso:account:access"
    private static let deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

    let world: World

    private var ledger: Ledger<Request> { world.identityCenter.ledger }

    /// The names of the roles that a user has in each account.
    static func roles(of user: User) -> KeyValuePairs<String, [String]> {
        switch user.username.prefix(while: { $0 != "@" }) {
        case "alice": ["123456789012": ["Developer", "ReadOnly"], "210987654321": ["ReadOnly"]]
        case "bob": ["123456789012": ["ReadOnly"]]
        default: [:]
        }
    }

    /// Answers a request; nil if it isn't for this service.
    func answer(_ visit: Visit) -> Response? {
        switch (visit.method, visit.path) {
        // A URL of the organisation's own.
        case (.get, "/start"): .redirect(to: Self.startURL + "/#/")
        case (.post, "/client/register"): service(visit, register)
        case (.post, "/device_authorization"): service(visit, authorizeDevice)
        case (.post, "/token"): service(visit, token)
        case (.get, "/authorize"), (.post, "/authorize"): authorize(visit)
        case (.get, "/device"), (.post, "/device"): device(visit)
        case (.get, "/assignment/accounts"): portal(visit, accounts)
        case (.get, "/assignment/roles"): portal(visit, roles)
        case (.get, "/federation/credentials"): portal(visit, credentials)
        case (.post, "/logout"): portal(visit, logOut)
        default: nil
        }
    }

    // MARK: - The OIDC service

    private func service(
        _ visit: Visit, _ body: (Visit, [String: JSONValue]) throws(HostError) -> JSONValue
    ) -> Response {
        do throws(HostError) {
            guard visit.header("Content-Type") == "application/json",
                let members = JSONValue(bytes: visit.body.utf8)?.members
            else { throw HostError("invalid_request", "The body must be JSON") }
            return .json(try body(visit, members))
        } catch {
            let name = error.error.split(separator: "_").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
            var response = Response.json(
                ["error": .string(error.error), "error_description": .string(error.message)], status: error.status)
            if let header = HTTPField.Name("x-amzn-ErrorType") { response.headers[header] = name + "Exception:" }
            return response
        }
    }

    private func require(_ members: [String: JSONValue], _ names: Set<String>) throws(HostError) {
        if let name = Set(members.keys).symmetricDifference(names).sorted().first {
            throw .badRequest("Missing or wrong \(name)")
        }
    }

    private func register(_ visit: Visit, _ members: [String: JSONValue]) throws(HostError) -> JSONValue {
        let grants = members["grantTypes"]?.elements.compactMap(\.string) ?? []
        let redirects = members["redirectUris"]?.elements.compactMap(\.string) ?? []
        let common: Set = ["clientName", "clientType", "scopes"]
        if grants.isEmpty {
            try require(members, common)
        } else {
            try require(members, common.union(["grantTypes", "redirectUris", "issuerUrl"]))
            guard members["issuerUrl"]?.string == Self.startURL else { throw .badRequest("Missing or wrong issuerUrl") }
            let known: Set = ["authorization_code", "refresh_token", Self.deviceGrant]
            guard Set(grants).isSubset(of: known) else { throw HostError("unsupported_grant_type") }
            guard redirects == ["http://127.0.0.1/oauth/callback"] else { throw HostError("invalid_redirect_uri") }
        }
        guard members["clientType"] == "public", members["clientName"]?.string?.isEmpty == false else {
            throw HostError("invalid_client_metadata", "Unknown client type")
        }
        let scopes = members["scopes"]?.elements.compactMap(\.string) ?? []
        guard scopes == [Self.scope] else { throw HostError("invalid_scope") }
        let (id, now) = (newSecret(bytes: 16), Date.now.unix)
        let client = Client(
            secret: newSecret(bytes: 128), scopes: scopes, grants: grants, redirects: redirects,
            end: now + Self.clientLifetime)
        world.identityCenter.clients.withLock { $0[id] = client }
        return [
            "clientId": .string(id), "clientSecret": .string(client.secret), "clientIdIssuedAt": .integer(now),
            "clientSecretExpiresAt": .integer(client.end),
        ]
    }

    private func client(_ members: [String: JSONValue]) throws(HostError) -> (id: String, client: Client) {
        let id = members["clientId"]?.string ?? ""
        guard let client = world.identityCenter.clients.withLock({ $0[id] }), client.end > Date.now.unix,
            members["clientSecret"]?.string == client.secret
        else { throw HostError("invalid_client", "Invalid client", status: .unauthorized) }
        return (id, client)
    }

    private func authorizeDevice(_ visit: Visit, _ members: [String: JSONValue]) throws(HostError) -> JSONValue {
        try require(members, ["clientId", "clientSecret", "startUrl"])
        let (id, client) = try client(members)
        guard client.grants.isEmpty || client.grants.contains(Self.deviceGrant) else {
            throw HostError("unauthorized_client")
        }
        guard members["startUrl"]?.string == Self.startURL else { throw .badRequest("Missing or wrong startUrl") }
        let (userCode, device) = ledger.register(
            Request(clientID: id), codeBytes: 48, userCodeLength: 8, world.settings)
        let page = "\(world.exchanges)/device"
        return [
            "deviceCode": .string(device.deviceCode), "userCode": .string(userCode), "verificationUri": .string(page),
            "verificationUriComplete": .string("\(page)?user_code=\(userCode)"),
            "expiresIn": .integer(Int64(world.settings.deviceCodeLifetime)),
            "interval": .integer(Int64(device.polling.interval)),
        ]
    }

    private func token(_ visit: Visit, _ members: [String: JSONValue]) throws(HostError) -> JSONValue {
        let (id, client) = try client(members)
        let common: Set = ["clientId", "clientSecret", "grantType"]
        let grant = members["grantType"]?.string ?? ""
        guard
            grant == Self.deviceGrant && client.grants.isEmpty || client.grants.contains(grant)
                || grant == "refresh_token"
        else { throw HostError("unauthorized_client") }
        switch grant {
        case Self.deviceGrant:
            try require(members, common.union(["deviceCode"]))
            return try issue(try signedIn(members["deviceCode"]?.string ?? "", id), Request(clientID: id), visit)
        case "authorization_code":
            try require(members, common.union(["code", "redirectUri", "codeVerifier"]))
            let verifier = members["codeVerifier"]?.string ?? ""
            guard let code = ledger.redeem(members["code"]?.string ?? ""), !code.isRedeemed, code.expires > .now,
                code.grant.request.clientID == id, code.redirectURI == members["redirectUri"]?.string,
                (43...128).contains(verifier.utf8.count), matches(code.grant.request.challenge, verifier: verifier)
            else { throw HostError("invalid_grant", "Invalid grant") }
            return try issue(code.grant.signedIn, code.grant.request, visit)
        case "refresh_token":
            try require(members, common.union(["refreshToken"]))
            let text = members["refreshToken"]?.string ?? ""
            guard let kept = ledger.with({ $0.refreshTokens[text] }), !kept.isRevoked, !kept.isSpent,
                kept.grant.request.clientID == id
            else { throw HostError("invalid_grant", "Invalid refresh token") }
            if world.settings.hasSingleUseRefreshTokens { _ = ledger.spend(refreshToken: text) }
            return try issue(kept.grant.signedIn, kept.grant.request, visit)
        default: throw HostError("unsupported_grant_type")
        }
    }

    private func signedIn(_ deviceCode: String, _ client: String) throws(HostError) -> SignedIn {
        guard let (device, isTooFast) = ledger.poll(deviceCode, by: client) else { throw HostError("invalid_grant") }
        guard device.expires > .now else { throw HostError("expired_token") }
        switch device.decision {
        case .approved(let signedIn): return signedIn
        case .declined: throw HostError("access_denied")
        case .pending: throw HostError(isTooFast ? "slow_down" : "authorization_pending")
        }
    }

    private func issue(_ signedIn: SignedIn, _ request: Request, _ visit: Visit) throws(HostError) -> JSONValue {
        visit.user = signedIn.username
        let grant = Ledger<Request>.Grant(request: request, signedIn: signedIn)
        let (access, refresh) = (newSecret(bytes: 96), newSecret(bytes: 96))
        let lifetime = world.settings.accessTokenLifetime
        ledger.with { state in
            state.accessTokens[access] = .init(
                grant: grant, scopes: [Self.scope], expires: .now.addingTimeInterval(TimeInterval(lifetime)))
            state.refreshTokens[refresh] = .init(grant: grant)
        }
        return [
            "accessToken": .string(access), "tokenType": "Bearer", "expiresIn": .integer(Int64(lifetime)),
            "refreshToken": .string(refresh),
        ]
    }

    // MARK: - The pages

    private func authorize(_ visit: Visit) -> Response {
        if visit.form["ctx"] != nil { return proceed(visit) }
        let query = visit.query
        let names: Set = [
            "response_type", "client_id", "redirect_uri", "state", "code_challenge_method", "scopes", "code_challenge",
        ]
        let id = query["client_id"] ?? ""
        let uri = query["redirect_uri"] ?? ""
        guard let client = world.identityCenter.clients.withLock({ $0[id] }), Set(query.fields.map(\.name)) == names,
            query["response_type"] == "code", query["code_challenge_method"] == "S256",
            query["scopes"] == Self.scope, client.grants.contains("authorization_code"),
            let asked = LoopbackURI(uri), client.redirects.contains("\(asked.host)\(asked.rest)"),
            !uri.hasPrefix(client.redirects[0])
        else {
            return .page(
                Pages.layout("Sign-in failed", "<p role=\"alert\">The request is wrong.</p>"), status: .badRequest)
        }
        let target = ReturnAddress(uri: uri, mode: .query, state: query["state"])
        let request = Request(clientID: id, target: target, challenge: query["code_challenge"] ?? "")
        return signInPage(.init(request: request), visit)
    }

    private func device(_ visit: Visit) -> Response {
        if visit.form["ctx"] != nil { return proceed(visit) }
        guard visit.method == .post, let typed = visit.form["otc"] else {
            return .page(Pages.deviceCode(action: visit.path, code: visit.query["user_code"] ?? ""))
        }
        guard let interaction = ledger.approval(of: typed) else {
            return .page(Pages.deviceCode(action: visit.path, isWrong: true))
        }
        return signInPage(interaction, visit)
    }

    private func signInPage(
        _ interaction: Ledger<Request>.Interaction, _ visit: Visit, message: String? = nil
    ) -> Response {
        ledger.page(interaction, visit) { form in
            Pages.layout(
                "Sign in",
                """
                <h1>Sign in</h1>
                <p class="who">to IAM Identity Center</p>
                \(Pages.alert(message))
                \(Pages.passwordForm(form, asking: "Username", hint: nil, example: world.directory.users.first?.username))
                """)
        }
    }

    private func proceed(_ visit: Visit) -> Response {
        let id = visit.form["ctx"] ?? ""
        guard var interaction = ledger.with({ $0.interactions.removeValue(forKey: id) }) else {
            return .page(Pages.stale, status: .badRequest)
        }
        if visit.form["consent"] == "decline" || visit.form["device"] == "decline" {
            guard let target = interaction.request.target else {
                ledger.decide(.declined, in: interaction)
                return .page(Pages.deviceDeclined)
            }
            return target.response(Form([("error", "access_denied"), ("state", target.state ?? "")]))
        }
        if interaction.signedIn == nil {
            guard let user = world.directory.users.first(where: { $0.goes(by: visit.form["loginfmt"] ?? "") }),
                visit.form["passwd"] == user.password
            else { return signInPage(interaction, visit, message: "Incorrect username or password.") }
            interaction.signedIn = SignedIn(username: user.username, at: .now)
            return ledger.page(interaction, visit) { form in
                let name = interaction.request.target == nil ? "device" : "consent"
                let yes = name == "device" ? "approve" : "accept"
                return Pages.layout(
                    "Allow access",
                    """
                    <h1>Allow lanyard to access your data?</h1>
                    \(form.choice(name, yes: (yes, "Allow access"), no: ("decline", "Cancel")))
                    """)
            }
        }
        guard let signedIn = interaction.signedIn else { return .page(Pages.stale, status: .badRequest) }
        visit.user = signedIn.username
        guard let target = interaction.request.target else {
            ledger.decide(.approved(signedIn), in: interaction)
            return .page(Pages.deviceDone)
        }
        let code = ledger.issue(newSecret(), .init(request: interaction.request, signedIn: signedIn))
        return target.response(Form([("code", code), ("state", target.state ?? "")]))
    }

    // MARK: - The portal

    private func portal(_ visit: Visit, _ body: (Visit, User) -> Response) -> Response {
        let text = visit.header("x-amz-sso_bearer_token") ?? ""
        guard visit.header("Authorization") == nil, let token = ledger.with({ $0.accessTokens[text] }), token.isAlive,
            let user = world.directory.users.first(where: { $0.username == token.grant.signedIn.username })
        else { return refusal("UnauthorizedException", "Session token not found or invalid", .unauthorized) }
        visit.user = user.username
        return body(visit, user)
    }

    private func refusal(_ type: String, _ words: String, _ status: HTTPResponse.Status) -> Response {
        var response = Response.json(["message": .string(words), "__type": .string(type)], status: status)
        if let header = HTTPField.Name("x-amzn-ErrorType") { response.headers[header] = type + ":" }
        return response
    }

    /// One page of a list: its only elements are those from the number in `next_token`.
    private func page(_ visit: Visit, _ name: String, _ all: [JSONValue]) -> Response {
        let start = visit.query["next_token"].flatMap(Int.init) ?? 0
        let size = min(visit.query["max_result"].flatMap(Int.init) ?? 100, world.settings.pageSize)
        var members: [String: JSONValue] = [name: .array(Array(all.dropFirst(start).prefix(size)))]
        members["nextToken"] = start + size < all.count ? .string(String(start + size)) : .null
        return .json(.object(members))
    }

    private func accounts(_ visit: Visit, _ user: User) -> Response {
        let all = Self.roles(of: user).map { id, _ -> JSONValue in
            ["accountId": .string(id), "accountName": .string("account \(id)"), "emailAddress": "aws@contoso.example"]
        }
        return page(visit, "accountList", all)
    }

    private func roles(_ visit: Visit, _ user: User) -> Response {
        guard let account = visit.query["account_id"] else {
            return refusal("InvalidRequestException", "Missing account_id", .badRequest)
        }
        let names = Self.roles(of: user).first { $0.key == account }?.value ?? []
        return page(
            visit, "roleList", names.map { ["roleName": .string($0), "accountId": .string(account)] })
    }

    /// Ends the user's sign-in: no token of it is worth anything afterwards.
    private func logOut(_ visit: Visit, _ user: User) -> Response {
        ledger.with { state in
            state.accessTokens = state.accessTokens.filter { $0.value.grant.signedIn.username != user.username }
            state.refreshTokens = state.refreshTokens.filter { $0.value.grant.signedIn.username != user.username }
        }
        return Response(uncached: "", type: "application/json", status: .ok)
    }

    private func credentials(_ visit: Visit, _ user: User) -> Response {
        guard let account = visit.query["account_id"], let role = visit.query["role_name"],
            Self.roles(of: user).first(where: { $0.key == account })?.value.contains(role) == true
        else { return refusal("ForbiddenException", "No access", .forbidden) }
        let arn = "arn:aws:sts::\(account):assumed-role/AWSReservedSSO_\(role)_0123456789abcdef"
        let (id, keys) = world.newKeys(role: arn, name: user.username)
        return .json([
            "roleCredentials": [
                "accessKeyId": .string(id), "secretAccessKey": .string(keys.secret),
                "sessionToken": .string(keys.session), "expiration": .integer(keys.end * 1000),
            ]
        ])
    }
}
