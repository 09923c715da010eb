import Addresses
import Crypto
import CryptoExtras
import FoundationEssentials
import JSON
import JWTKit
import Synchronization

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

    func check(_ assertion: String) async throws(OAuthFailure) {
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

    private func checkOwn(_ assertion: String, _ header: Claims, _ claims: Claims) async throws(OAuthFailure) {
        let certificate = world.applicationCertificate
        guard header["x5t#S256"]?.string == certificate.thumbprint, header["alg"]?.string == "PS256",
            application.certificate == true, await certificate.hasSigned(assertion)
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

    private func checkFederated(_ assertion: String, _ claims: Claims) async throws(OAuthFailure) {
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

    private func checkSubject(_ subject: String) throws(OAuthFailure) {
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

    private func checkTime(_ claims: Claims) throws(OAuthFailure) {
        let now = Date.now.unix
        guard let end = claims["exp"]?.integer, end + Self.skew > now,
            (claims["nbf"]?.integer ?? now) - Self.skew <= now
        else {
            throw .unproven(
                700_024, "Client assertion is not within its valid time range.")
        }
    }
}
