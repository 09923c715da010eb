import Addresses
import Crypto
import CryptoExtras
import FoundationEssentials
import Hummingbird
import JSON
import JWTKit
import SwiftASN1
import Synchronization
import X509

/// An identity that gets tokens without a user.
protocol TokenOwner {
    /// The client ID.
    var id: String { get }
    var name: String { get }
    /// The object ID of the service principal.
    var object: String { get }
    /// The roles at every resource.
    var roles: [String] { get }
}

/// An application that gets tokens by itself, without a user.
struct ServicePrincipal: Codable, Sendable, Equatable, TokenOwner {
    var id: String
    var name: String
    /// The domain of the only tenant that knows it.
    var tenant: String
    /// The object ID of its service principal there.
    var object: String
    /// The client secret; nil if it has none.
    var secret: String?
    /// Whether the certificate that the sandbox creates is registered with it.
    var certificate: Bool?
    /// The subjects of the federated credentials, which trust the sandbox's own issuer of assertions.
    var subjects: [String]?
    /// The roles at every resource.
    var roles: [String]
}

/// Implements client credentials (RFC 6749, 4.4), with a secret or an assertion (RFC 7523).
extension World {
    /// Returns an application's tokens, or a refusal in Entra's words.
    func applicationToken(_ visit: Visit, at authority: AuthorityPath) async throws -> Response {
        do throws(OAuthErrorResponse) {
            let application = try application(of: visit, at: authority)
            visit.user = application.name
            let resource = try applicationResource(visit.form["scope"])
            let proof = try await prove(application, visit, at: authority)
            return .json(try await token(for: application, resource, provedBy: proof, visit))
        } catch {
            return error.response(to: visit)
        }
    }

    private func application(of visit: Visit, at authority: AuthorityPath) throws(OAuthErrorResponse)
        -> ServicePrincipal
    {
        guard let id = visit.form["client_id"] else { throw .missing("client_id") }
        guard let tenant = authority.realm.organization else {
            throw OAuthErrorResponse(
                "invalid_request", 50059,
                "No tenant-identifying information found in either the request or implied by any provided credentials.")
        }
        guard let application = directory.applications.first(where: { $0.id == id.lowercased() }),
            application.tenant == tenant.domain
        else { throw .unknownClient(id, in: authority.prefix) }
        return application
    }

    /// Returns the only resource in `RESOURCE/.default`.
    private func applicationResource(_ scope: String?) throws(OAuthErrorResponse) -> ResourceApp {
        guard let scope else { throw .missing("scope") }
        let names = scope.split(separator: " ")
        guard names.count == 1, let name = names.first, name.hasSuffix("/.default") else {
            throw OAuthErrorResponse(
                "invalid_scope", 1_002_012,
                "The provided value for scope \(scope) is not valid. Client credential flows must have a scope value with "
                    + "/.default suffixed to the resource identifier (application ID URI).")
        }
        let identifier = String(name.dropLast("/.default".count))
        guard let resource = directory.resource(identifier), resource.tenant == nil else {
            throw OAuthErrorResponse(
                "invalid_resource", 500_011,
                "The resource principal named \(identifier) was not found in the tenant.")
        }
        return resource
    }

    /// The client's authentication method, as in the `azpacr` claim.
    private enum Proof: String {
        case secret = "1"
        case assertion = "2"
    }

    private func prove(
        _ application: ServicePrincipal, _ visit: Visit, at authority: AuthorityPath
    ) async throws(OAuthErrorResponse) -> Proof {
        if let assertion = visit.form["client_assertion"] {
            guard visit.form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" else {
                throw .missing("client_assertion_type")
            }
            try await AssertionCheck(world: self, application: application, endpoint: endpoints(of: authority, visit))
                .check(assertion)
            return .assertion
        }
        guard let secret = visit.form["client_secret"] else {
            throw OAuthErrorResponse.unproven(
                7_000_218,
                "The request body must contain the following parameter: 'client_assertion' or 'client_secret'.")
        }
        guard !settings.hasExpiredSecrets else {
            throw OAuthErrorResponse.unproven(
                7_000_222,
                "The provided client secret keys for app '\(application.id)' are expired. Create new keys for your app."
            )
        }
        guard secret == application.secret else {
            throw OAuthErrorResponse.unproven(
                7_000_215,
                "Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, "
                    + "not the client secret ID, for a secret added to app '\(application.id)'.")
        }
        return .secret
    }

    /// Returns the valid audiences of an assertion: the requested endpoint, and the tenant's issuer.
    private func endpoints(of authority: AuthorityPath, _ visit: Visit) -> [String] {
        [self.authority + visit.path] + (authority.realm.organization.map { [issuer(of: $0)] } ?? [])
    }

    private func token(
        for application: ServicePrincipal, _ resource: ResourceApp, provedBy proof: Proof, _ visit: Visit
    ) async throws(OAuthErrorResponse) -> JSONValue {
        guard let tenant = directory.tenant(application.tenant) else { throw .unknownTenant(application.tenant) }
        let lifetime = settings.accessTokenLifetime
        var claims = claims(of: application, in: tenant, for: resource, lifetime: lifetime)
        claims["azpacr"] = .string(proof.rawValue)
        guard let token = try? await key.sign(claims) else {
            throw OAuthErrorResponse("server_error", 90033, "A transient error has occurred. Please try again.")
        }
        var answer: [String: JSONValue] = [
            "token_type": "Bearer", "expires_in": .integer(Int64(lifetime)),
            "ext_expires_in": .integer(Int64(lifetime)), "access_token": .string(token),
        ]
        answer["refresh_in"] = settings.refreshIn.map { .integer(Int64($0)) }
        return .object(answer)
    }

    /// Returns the claims of a token without a user.
    func claims(
        of principal: some TokenOwner, in tenant: Tenant, for resource: ResourceApp, lifetime: Int
    ) -> Claims {
        let now = Date.now.unix
        return [
            "iss": .string(issuer(of: tenant)), "iat": .integer(now), "nbf": .integer(now),
            "exp": .integer(now + Int64(lifetime)), "ver": "2.0", "tid": .string(tenant.id),
            "aud": .string(resource.identifiers.first ?? resource.id), "oid": .string(principal.object),
            "sub": .string(principal.object), "azp": .string(principal.id), "idtyp": "app",
            "app_displayname": .string(principal.name), "roles": JSONValue(strings: principal.roles),
            "uti": .string(newSecret(bytes: 16)),
        ]
    }
}

extension OAuthErrorResponse {
    /// Returns the failure for a client that didn't authenticate.
    static func unproven(_ code: Int, _ message: String) -> OAuthErrorResponse {
        var failure = OAuthErrorResponse("invalid_client", code, message)
        failure.status = .unauthorized
        return failure
    }
}

/// The certificate that the sandbox creates for its application, like one uploaded by an administrator.
struct ApplicationCertificate: Sendable {
    /// The key and certificate in one file.
    let pem: String
    /// The certificate's SHA-256 in base64url.
    let thumbprint: String
    /// The key, by the algorithms that an assertion may be signed with.
    private let keys: [String: JWTKeyCollection]

    init() async throws {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let name = try DistinguishedName { CommonName("lanyard sandbox application") }
        let own = Certificate.PrivateKey(key)
        let certificate = try Certificate(
            of: own.publicKey, subject: name, issuer: name, signedBy: own, extensions: Certificate.Extensions())
        let document = try certificate.serializeAsPEM()
        thumbprint = Base64URL.encode(SHA256.hash(data: document.derBytes))
        pem = key.pemRepresentation + "\n" + document.pemString + "\n"
        let known = try JWTKit.Insecure.RSA.PublicKey(backing: key.publicKey)
        keys = [
            "PS256": await JWTKeyCollection().add(pss: known, digestAlgorithm: .sha256),
            "RS256": await JWTKeyCollection().add(rsa: known, digestAlgorithm: .sha256),
        ]
    }

    /// The claims of a token that the certificate's key signed by this algorithm; nil for any other.
    func claims(of token: String, by algorithm: String) async -> Claims? {
        guard Claims(part: token.prefix { $0 != "." })?["alg"]?.string == algorithm else { return nil }
        return try? await keys[algorithm]?.verify(token, as: Claims.self)
    }
}

/// Entra's checks of an assertion, either signed with the certificate or from an issuer that the application trusts.
struct AssertionCheck {
    /// The audience of federated assertions.
    static let federatedAudience = "api://AzureADTokenExchange"

    let world: World
    let application: ServicePrincipal
    /// The valid audiences of an assertion signed with the certificate.
    let endpoint: [String]

    /// The clock skew that Entra tolerates, five minutes.
    private static let skew: Int64 = 300
    /// The longest lifetime of federated assertions, in seconds.
    private static let longestLife: Int64 = 86_400

    func check(_ assertion: String) async throws(OAuthErrorResponse) {
        let parts = assertion.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Claims(part: parts[0]), let claims = Claims(part: parts[1])
        else {
            throw .unproven(50027, "JWT token is invalid or malformed.")
        }
        if claims["iss"]?.string == application.id {
            try await checkOwn(assertion, header, claims)
        } else {
            try await checkFederated(assertion, claims)
        }
    }

    private func checkOwn(_ assertion: String, _ header: Claims, _ claims: Claims) async throws(OAuthErrorResponse) {
        let certificate = world.applicationCertificate
        guard header["x5t#S256"]?.string == certificate.thumbprint, header["alg"]?.string == "PS256",
            application.certificate == true, await certificate.claims(of: assertion, by: "PS256") != nil
        else {
            throw .unproven(
                700_027,
                "The certificate with identifier used to sign the client assertion is not registered on application. "
                    + "[Reason - The key was not found or the signature is not PS256.]")
        }
        guard claims["sub"]?.string == application.id else {
            throw .unproven(700_021, "Client assertion application identifier doesn't match 'client_id' parameter.")
        }
        guard let audience = claims["aud"]?.string, endpoint.contains(audience) else {
            throw .unproven(700_023, "Client assertion audience claim does not match Realm issuer.")
        }
        try checkTime(claims)
        guard let id = claims["jti"]?.string, world.assertions.withLock({ $0.insert(id).inserted }) else {
            throw .unproven(700_025, "The client assertion has no identifier, or it was used before.")
        }
    }

    private func checkFederated(_ assertion: String, _ claims: Claims) async throws(OAuthErrorResponse) {
        guard claims["iss"]?.string == world.workloadIssuer, await world.key.verify(assertion) != nil else {
            throw .unproven(
                700_211, "No matching federated identity record found for presented assertion issuer.")
        }
        try checkSubject(claims["sub"]?.string ?? "")
        guard claims["aud"]?.string == Self.federatedAudience else {
            throw .unproven(
                700_212, "No matching federated identity record found for presented assertion audience.")
        }
        try checkTime(claims)
        guard let end = claims["exp"]?.integer, let start = claims["iat"]?.integer, end - start <= Self.longestLife
        else {
            throw .unproven(70023, "External OIDC provider token is good for more than 24 hours.")
        }
    }

    private func checkSubject(_ subject: String) throws(OAuthErrorResponse) {
        let subjects = application.subjects ?? []
        guard !subjects.contains(subject) else { return }
        guard !subjects.contains(where: { $0.lowercased() == subject.lowercased() }) else {
            throw .unproven(
                7_002_138,
                "No matching federated identity record found for presented assertion subject '\(subject)': "
                    + "the subject matches with case-insensitive comparison, but not with case-sensitive comparison.")
        }
        throw .unproven(
            700_213, "No matching federated identity record found for presented assertion subject '\(subject)'.")
    }

    private func checkTime(_ claims: Claims) throws(OAuthErrorResponse) {
        let now = Date.now.unix
        guard let end = claims["exp"]?.integer, end + Self.skew > now,
            (claims["nbf"]?.integer ?? now) - Self.skew <= now
        else {
            throw .unproven(
                700_024, "Client assertion is not within its valid time range.")
        }
    }
}

/// An issuer of assertions like a CI service's: a job sends its own token, and gets a token for the audience it names.
extension World {
    /// The issuer's name.
    var workloadIssuer: String { authority + "/_actions" }
    /// The URL for a job's requests.
    var workloadRequestURL: String { workloadIssuer + "/token?api-version=2.0" }
    /// The subject of its tokens.
    static let workloadSubject = "repo:contoso/hello:ref:refs/heads/main"

    /// Returns an assertion for the audience, which the job must name.
    func workloadToken(_ visit: Visit) async throws -> Response {
        guard case .bearer(workloadRequestToken)? = visit.authorization else {
            return .json(["message": "send the job's token"], status: .unauthorized)
        }
        guard let audience = visit.query["audience"] else {
            return .json(["message": "name an audience"], status: .badRequest)
        }
        let token = try await workloadAssertion(["aud": .string(audience)])
        return .json(["value": .string(token), "count": .integer(Int64(token.utf8.count))])
    }

    /// Returns an assertion as Azure Pipelines does, for a job's service connection.
    func pipelineToken(_ visit: Visit) async throws -> Response {
        guard case .bearer(workloadRequestToken)? = visit.authorization, visit.method == .post else {
            return .json(["message": "post with the job's token"], status: .unauthorized)
        }
        guard visit.query["serviceConnectionId"] != nil else {
            return .json(["message": "name a service connection"], status: .badRequest)
        }
        return .json(["oidcToken": .string(try await workloadAssertion([:]))])
    }

    /// Returns a signed assertion for the job, with these claims changed.
    func workloadAssertion(_ changes: Claims) async throws -> String {
        let now = Date.now.unix
        let claims: Claims = [
            "iss": .string(workloadIssuer), "sub": .string(Self.workloadSubject),
            "aud": .string(AssertionCheck.federatedAudience), "jti": .string(newIdentifier()), "iat": .integer(now),
            "nbf": .integer(now), "exp": .integer(now + 300),
        ]
        return try await key.sign(claims.merging(changes) { $1 })
    }
}
