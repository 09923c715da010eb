import Addresses
import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON
import Synchronization

/// Google Cloud, as far as programs get tokens there: its token endpoint, its Security Token Service, and the service that
/// impersonates.
///
/// All are below `/google` on the port of the exchanges.
struct GoogleCloud: Sendable {
    /// An issued access token.
    struct Token: Sendable {
        /// The account's address, or the federated identity.
        let account: String
        let scopes: [String]
        let end: Int64
    }

    /// What was issued.
    final class State: Sendable {
        let tokens = Mutex<[String: Token]>([:])
        /// The refresh tokens of the user and of the workforce user.
        let refreshTokens = (user: newSecret(), workforce: newSecret())
        let clientSecret = newSecret()
    }

    static let path = "google"
    static let user = "alice@contoso.example"
    static let account = "builder@contoso-project.iam.gserviceaccount.com"
    /// A service account that the other ones may impersonate.
    static let deployer = "deployer@contoso-project.iam.gserviceaccount.com"
    static let pool =
        "//iam.googleapis.com/projects/1234567890/locations/global/workloadIdentityPools/contoso/providers/ci"
    /// The workforce pool's, which takes the issuer's ID tokens.
    static let workforcePool = "//iam.googleapis.com/locations/global/workforcePools/contoso/providers/issuer"
    static let clientID = "1234567890-contoso.apps.googleusercontent.com"
    static let keyID = "0123456789abcdef0123456789abcdef01234567"
    static let cloud = "https://www.googleapis.com/auth/cloud-platform"
    static let impersonation = "https://www.googleapis.com/auth/iam"

    let world: World

    private var state: State { world.google }

    /// Answers a request; nil if it isn't for Google's services.
    func answer(_ visit: Visit) async throws -> Response? {
        guard visit.segments.first == Self.path else { return nil }
        let path = Array(visit.segments.dropFirst())
        switch (visit.method, path) {
        case (.post, ["token"]): return try await token(visit)
        case (.post, ["v1", "token"]): return await exchange(visit)
        case (.post, ["v1", "oauthtoken"]): return workforce(visit)
        case (.post, let path) where path.count == 5 && path.starts(with: ["v1", "projects", "-", "serviceAccounts"]):
            return try await impersonate(path[4], visit)
        default:
            let place = "\(world.exchanges)/\(visit.segments.prefix(4).joined(separator: "/"))"
            return CloudRepositories(world: world).google(visit, path.first ?? "", Array(path.dropFirst()), at: place)
        }
    }

    // MARK: - Tokens

    /// The token endpoint: a person's refresh token, or what a service account's key signed.
    private func token(_ visit: Visit) async throws -> Response {
        switch visit.form["grant_type"] {
        case "refresh_token":
            guard visit.form["client_id"] == Self.clientID, visit.form["client_secret"] == state.clientSecret else {
                return Self.refusal("invalid_client", "Unauthorized", .unauthorized)
            }
            guard visit.form["refresh_token"] == state.refreshTokens.user else {
                return Self.refusal("invalid_grant", "Bad Request")
            }
            let scopes = Self.scopes(visit.form["scope"])
            guard scopes.allSatisfy({ $0.hasPrefix("https://www.googleapis.com/auth/") }) else {
                return Self.refusal("invalid_scope", "Some requested scopes were invalid")
            }
            visit.user = Self.user
            return issued(to: Self.user, scopes.isEmpty ? [Self.cloud] : scopes)
        case "urn:ietf:params:oauth:grant-type:jwt-bearer": return try await signed(visit)
        default: return Self.refusal("unsupported_grant_type", "Invalid grant_type: \(visit.form["grant_type"] ?? "")")
        }
    }

    private func signed(_ visit: Visit) async throws -> Response {
        guard let assertion = visit.form["assertion"],
            let claims = await world.applicationCertificate.claims(of: assertion, by: "RS256"),
            let header = Claims(part: assertion.prefix { $0 != "." }), header["kid"]?.string == Self.keyID
        else { return Self.refusal("invalid_grant", "Invalid JWT Signature.") }
        let now = Date.now.unix
        guard claims["iss"]?.string == Self.account, claims["aud"]?.string == "https://oauth2.googleapis.com/token"
        else {
            return Self.refusal("invalid_grant", "Invalid grant: account not found")
        }
        guard let start = claims["iat"]?.integer, let end = claims["exp"]?.integer, abs(start - now) < 300,
            end > now, end - start <= 3600
        else {
            return Self.refusal(
                "invalid_grant",
                "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe.")
        }
        visit.user = Self.account
        if let audience = claims["target_audience"]?.string {
            return .json(["id_token": .string(try await idToken(of: Self.account, for: audience))])
        }
        let scopes = Self.scopes(claims["scope"]?.string)
        guard !scopes.isEmpty else { return Self.refusal("invalid_scope", "Empty or missing scope not allowed.") }
        return issued(to: Self.account, scopes)
    }

    /// The Security Token Service: the token of a job or a user, for one of a pool's identities.
    private func exchange(_ visit: Visit) async -> Response {
        let form = visit.form
        guard form["grant_type"] == "urn:ietf:params:oauth:grant-type:token-exchange",
            form["requested_token_type"] == "urn:ietf:params:oauth:token-type:access_token"
        else { return Self.refusal("invalid_request", "Invalid grant_type or requested_token_type") }
        guard let pool = form["audience"], [Self.pool, Self.workforcePool].contains(pool) else {
            return Self.refusal(
                "invalid_target", "The target service indicated by the \"audience\" parameters is invalid.")
        }
        // Users' own quota would be nobody's.
        let options = form["options"]?.percentDecoded.flatMap { JSONValue(bytes: $0.utf8) }
        guard pool == Self.pool || options?["userProject"]?.string == "contoso-project" else {
            return Self.refusal("invalid_request", "A user project is required.")
        }
        guard let token = form["subject_token"], let type = form["subject_token_type"],
            let subject = await subject(of: token, type: type, at: pool)
        else { return Self.refusal("invalid_grant", "ID Token issued at is stale to sign-in.") }
        let federated = "principal:\(pool)/subject/\(subject)"
        visit.user = federated
        let scopes = Self.scopes(form["scope"])
        guard !scopes.isEmpty else { return Self.refusal("invalid_scope", "Empty scope") }
        return issued(to: federated, scopes, ["issued_token_type": "urn:ietf:params:oauth:token-type:access_token"])
    }

    /// Returns whom a token is of, if a pool takes it.
    private func subject(of token: String, type: String, at pool: String) async -> String? {
        if pool == Self.workforcePool {
            guard type == "urn:ietf:params:oauth:token-type:id_token" else { return nil }
            return await world.idToken(token)?["sub"]?.string
        }
        if type == "urn:ietf:params:aws:token-type:aws4_request" { return callerAtAWS(token, at: pool) }
        guard type == "urn:ietf:params:oauth:token-type:jwt", let claims = await world.key.verify(token),
            claims["iss"]?.string == world.workloadIssuer, let end = claims["exp"]?.integer, end > Date.now.unix
        else { return nil }
        return "ci"
    }

    /// Returns the role whose keys signed a request to AWS that is for a pool; AWS would be asked.
    private func callerAtAWS(_ token: String, at pool: String) -> String? {
        guard let text = token.percentDecoded, let request = JSONValue(bytes: text.utf8), request["method"] == "POST",
            request["url"]?.string == "https://sts.eu-central-1.amazonaws.com?\(Self.callerQuery)"
        else { return nil }
        let headers = (request["headers"]?.elements ?? []).compactMap { entry in
            entry["key"]?.string.flatMap { key in entry["value"]?.string.map { (key.lowercased(), $0) } }
        }
        let known = Dictionary(headers) { first, _ in first }
        let signature = Signature(method: "POST", path: "/", query: Self.callerQuery) { known[$0.lowercased()] }
        guard known["x-goog-cloud-target-resource"] == pool, known["host"] == "sts.eu-central-1.amazonaws.com" else {
            return nil
        }
        return try? signature.keys(for: "sts", in: world).name
    }

    private static let callerQuery = "Action=GetCallerIdentity&Version=2011-06-15"

    private func workforce(_ visit: Visit) -> Response {
        guard case .basic(Self.clientID, state.clientSecret)? = visit.authorization else {
            return Self.refusal("invalid_client", "The OAuth client was not found.", .unauthorized)
        }
        guard visit.form["grant_type"] == "refresh_token", visit.form["refresh_token"] == state.refreshTokens.workforce
        else { return Self.refusal("invalid_grant", "The refresh token is invalid.") }
        visit.user = "workforce user"
        return issued(to: "workforce user", [Self.cloud])
    }

    /// iamcredentials: a token of the deployer for whoever may have one.
    private func impersonate(_ name: String, _ visit: Visit) async throws -> Response {
        guard case .bearer(let token)? = visit.authorization, let by = live(token),
            !by.scopes.filter({ [Self.cloud, Self.impersonation].contains($0) }).isEmpty
        else { return Self.refusal(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.") }
        visit.user = by.account
        let parts = name.split(separator: ":").map(String.init)
        guard parts.count == 2, parts[0] == Self.deployer else {
            return Self.refusal(403, "PERMISSION_DENIED", "Permission 'iam.serviceAccounts.getAccessToken' denied")
        }
        let body = JSONValue(bytes: visit.body.utf8)
        switch parts[1] {
        case "generateAccessToken":
            let scopes = (body?["scope"]?.elements ?? []).compactMap(\.string)
            guard !scopes.isEmpty, body?["lifetime"]?.string?.hasSuffix("s") == true else {
                return Self.refusal(400, "INVALID_ARGUMENT", "Scope required.")
            }
            let token = newToken(of: Self.deployer, scopes)
            let end = Date(timeIntervalSince1970: Double(token.end)).formatted(.iso8601)
            return .json(["accessToken": .string(token.text), "expireTime": .string(end)])
        case "generateIdToken":
            guard let audience = body?["audience"]?.string, !audience.isEmpty else {
                return Self.refusal(400, "INVALID_ARGUMENT", "Audience required.")
            }
            return .json(["token": .string(try await idToken(of: Self.deployer, for: audience))])
        default: return Self.refusal(404, "NOT_FOUND", "Method not found.")
        }
    }

    // MARK: - What is issued

    private func issued(to account: String, _ scopes: [String], _ further: Claims = [:]) -> Response {
        let token = newToken(of: account, scopes)
        let members: [String: JSONValue] = [
            "access_token": .string(token.text), "expires_in": .integer(token.end - Date.now.unix),
            "token_type": "Bearer", "scope": .string(scopes.joined(separator: " ")),
        ]
        return .json(.object(members.merging(further) { $1 }))
    }

    /// Issues an access token, of the length of real ones.
    func newToken(of account: String, _ scopes: [String]) -> (text: String, end: Int64) {
        let text = "ya29." + newSecret(bytes: 160)
        let end = Date.now.unix + Int64(world.settings.accessTokenLifetime)
        state.tokens.withLock { $0[text] = Token(account: account, scopes: scopes, end: end) }
        return (text, end)
    }

    /// Issues an ID token for an audience.
    func idToken(of account: String, for audience: String) async throws -> String {
        let now = Date.now.unix
        return try await world.key.sign([
            "iss": "https://accounts.google.com", "aud": .string(audience), "azp": .string(account),
            "email": .string(account), "email_verified": .bool(true), "sub": .string(account), "iat": .integer(now),
            "exp": .integer(now + Int64(world.settings.accessTokenLifetime)),
        ])
    }

    /// Returns a token that hasn't ended; nil for any other text.
    func live(_ text: String) -> Token? {
        state.tokens.withLock { $0[text] }.flatMap { $0.end > Date.now.unix ? $0 : nil }
    }

    private static func scopes(_ text: String?) -> [String] { (text ?? "").split(separator: " ").map(String.init) }

    private static func refusal(
        _ error: String, _ description: String, _ status: HTTPResponse.Status = .badRequest
    ) -> Response {
        .json(["error": .string(error), "error_description": .string(description)], status: status)
    }

    private static func refusal(_ code: Int, _ status: String, _ message: String) -> Response {
        .json(
            ["error": ["code": .integer(Int64(code)), "status": .string(status), "message": .string(message)]],
            status: .init(code: code))
    }
}
