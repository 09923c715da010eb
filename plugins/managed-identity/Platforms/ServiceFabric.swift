import Addresses
import Crypto
package import HTTP
import Secrets

/// Service Fabric clusters, whose service must have the one certificate that a variable names.
package struct ServiceFabric: TokenSource {
    /// Service Fabric.
    package let platform = Platform.serviceFabric
    /// The service's certificate.
    package var pin: CertificatePin? { certificate }
    /// The URL from `IDENTITY_ENDPOINT`.
    package let url: String
    private let header: Secret
    private let certificate: CertificatePin

    /// Creates a source from the variables.
    ///
    /// - Throws: `invalidRequest` if the URL isn't https, or the thumbprint is invalid.
    package init(_ surroundings: Surroundings) throws(IdentityError) {
        url = try Endpoint.requiredURL("IDENTITY_ENDPOINT", in: surroundings, schemes: ["https"])
        header = try Endpoint.header("IDENTITY_HEADER", in: surroundings)
        guard let pin = surroundings["IDENTITY_SERVER_THUMBPRINT"].flatMap(CertificatePin.init) else {
            throw IdentityError(
                .invalidRequest, "the variable IDENTITY_SERVER_THUMBPRINT doesn't hold the SHA-1 of a certificate",
                hint: "set it to the 40 hexadecimal digits that the platform gives")
        }
        certificate = pin
    }

    /// Returns the request for a token.
    ///
    /// Only this platform can be told which token a server rejected, so only it can issue a replacement.
    package func request(for demand: Demand) throws(IdentityError) -> PlatformRequest {
        try requireSystem(demand)
        var query = ["api-version": "2019-07-01-preview", "resource": demand.resource]
        if demand.takesChallenges { query["xms_cc"] = "CP1" }
        if let token = demand.refused {
            query["token_sha256_to_refresh"] = SHA256.hash(data: Array(token.reveal().utf8)).hexadecimal
        }
        return PlatformRequest(url, query: query, headers: ["Secret": header])
    }

    /// Converts the platform's codes to OAuth's; the original becomes the more specific code.
    package func translated(_ fault: Fault) -> Fault {
        guard let code = fault.error else { return fault }
        var translated = fault
        translated.suberror = code
        translated.error = Self.codes[code] ?? "invalid_request"
        return translated
    }

    private static let codes = [
        "SecretHeaderNotFound": "unauthorized_client", "ManagedIdentityNotFound": "invalid_client",
        "ArgumentNullOrEmpty": "invalid_scope",
    ]
}
