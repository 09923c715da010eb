import Addresses
import Crypto
import FoundationEssentials
import Hummingbird
import JSON
import Synchronization

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
struct ServicePrincipal: Decodable, Sendable, Equatable, TokenOwner {
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
        do throws(OAuthFailure) {
            let application = try application(of: visit, at: authority)
            visit.user = application.name
            let resource = try applicationResource(visit.form["scope"])
            let proof = try await prove(application, visit, at: authority)
            return .json(try await token(for: application, resource, provedBy: proof, visit))
        } catch {
            return error.response(to: visit)
        }
    }

    private func application(of visit: Visit, at authority: AuthorityPath) throws(OAuthFailure) -> ServicePrincipal {
        guard let id = visit.form["client_id"] else { throw .missing("client_id") }
        guard let tenant = authority.realm.organization else {
            throw OAuthFailure(
                "invalid_request", 50059,
                "No tenant-identifying information found in either the request or implied by any provided credentials.")
        }
        guard let application = directory.applications.first(where: { $0.id == id.lowercased() }),
            application.tenant == tenant.domain
        else { throw .unknownClient(id, in: authority.prefix) }
        return application
    }

    /// Returns the only resource in `RESOURCE/.default`.
    private func applicationResource(_ scope: String?) throws(OAuthFailure) -> ResourceApp {
        guard let scope else { throw .missing("scope") }
        let names = scope.split(separator: " ")
        guard names.count == 1, let name = names.first, name.hasSuffix("/.default") else {
            throw OAuthFailure(
                "invalid_scope", 1_002_012,
                "The provided value for scope \(scope) is not valid. Client credential flows must have a scope value with "
                    + "/.default suffixed to the resource identifier (application ID URI).")
        }
        let identifier = String(name.dropLast("/.default".count))
        guard let resource = directory.resource(identifier), resource.tenant == nil else {
            throw OAuthFailure(
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
    ) async throws(OAuthFailure) -> Proof {
        if let assertion = visit.form["client_assertion"] {
            guard visit.form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" else {
                throw .missing("client_assertion_type")
            }
            try await AssertionCheck(world: self, application: application, endpoint: endpoints(of: authority, visit))
                .check(assertion)
            return .assertion
        }
        guard let secret = visit.form["client_secret"] else {
            throw OAuthFailure.unproven(
                7_000_218,
                "The request body must contain the following parameter: 'client_assertion' or 'client_secret'.")
        }
        guard !settings.hasExpiredSecrets else {
            throw OAuthFailure.unproven(
                7_000_222,
                "The provided client secret keys for app '\(application.id)' are expired. Create new keys for your app."
            )
        }
        guard secret == application.secret else {
            throw OAuthFailure.unproven(
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
    ) async throws(OAuthFailure) -> JSONValue {
        guard let tenant = directory.tenant(application.tenant) else { throw .unknownTenant(application.tenant) }
        let lifetime = settings.accessTokenLifetime
        var claims = claims(of: application, in: tenant, for: resource, lifetime: lifetime)
        claims["azpacr"] = .string(proof.rawValue)
        guard let token = try? await key.sign(claims) else {
            throw OAuthFailure("server_error", 90033, "A transient error has occurred. Please try again.")
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

extension OAuthFailure {
    /// Returns the failure for a client that didn't authenticate.
    static func unproven(_ code: Int, _ message: String) -> OAuthFailure {
        var failure = OAuthFailure("invalid_client", code, message)
        failure.status = .unauthorized
        return failure
    }
}
