import Addresses
import Crypto
package import HTTP
import Secrets

/// App Service, Functions, Container Apps and Automation, which share one protocol.
package struct AppService: TokenSource {
    /// App Service.
    package let platform = Platform.appService
    /// The URL from `IDENTITY_ENDPOINT`.
    package let url: String
    private let header: Secret

    /// Creates a source from the variables, which must be read again for each request because the header's value
    /// changes.
    package init(_ surroundings: MachineSurroundings) throws(IdentityError) {
        url = try Endpoint.requiredURL("IDENTITY_ENDPOINT", in: surroundings)
        header = try Endpoint.header("IDENTITY_HEADER", in: surroundings)
    }

    /// Returns the request for a token.
    package func request(for demand: Demand) -> PlatformRequest {
        var query = demand.id.parameter(resourceID: "mi_res_id")
        query["api-version"] = "2019-08-01"
        query["resource"] = demand.resource
        // Only Automation needs the second header, and the others ignore it.
        return PlatformRequest(url, query: query, headers: ["X-IDENTITY-HEADER": header, "Metadata": Secret("true")])
    }
}

/// Azure Machine Learning compute.
package struct AzureMachineLearning: TokenSource {
    /// Azure Machine Learning.
    package let platform = Platform.azureML
    /// The URL from `MSI_ENDPOINT`.
    package let url: String
    private let header: Secret
    private let usualClient: String?

    /// Creates a source from the variables.
    package init(_ surroundings: MachineSurroundings) throws(IdentityError) {
        url = try Endpoint.requiredURL("MSI_ENDPOINT", in: surroundings)
        header = try Endpoint.header("MSI_SECRET", in: surroundings)
        usualClient = surroundings["DEFAULT_IDENTITY_CLIENT_ID"]
    }

    /// Returns the request for a token.
    package func request(for demand: Demand) throws(IdentityError) -> PlatformRequest {
        var query = ["api-version": "2017-09-01", "resource": demand.resource]
        // In this version, the parameter's name has no underscore.
        query["clientid"] = try client(demand.id)
        return PlatformRequest(url, query: query, headers: ["secret": header])
    }

    private func client(_ id: ManagedID) throws(IdentityError) -> String? {
        switch id {
        case .system: return usualClient
        case .clientID(let id): return id
        case .objectID, .resourceID:
            throw IdentityError(
                .invalidRequest, "\(platform.words) knows identities by their client ID only",
                hint: "name the identity as client-id:ID")
        }
    }
}

/// Azure Cloud Shell, whose tokens belong to the user who opened it.
package struct CloudShell: TokenSource {
    /// Azure Cloud Shell.
    package let platform = Platform.cloudShell
    /// The URL from `MSI_ENDPOINT`.
    package let url: String

    /// Creates a source from the variables.
    package init(_ surroundings: MachineSurroundings) throws(IdentityError) {
        url = try Endpoint.requiredURL("MSI_ENDPOINT", in: surroundings)
    }

    /// Returns the request for a token.
    package func request(for demand: Demand) throws(IdentityError) -> PlatformRequest {
        try requireSystem(demand)
        return PlatformRequest(url, headers: ["Metadata": Secret("true")], form: ["resource": demand.resource])
    }
}

/// The Instance Metadata Service (IMDS) of Azure's virtual machines, scale sets and container groups.
package struct InstanceMetadataService: TokenSource {
    /// The Instance Metadata Service.
    package let platform = Platform.imds
    /// The URL of the token service.
    package let url: String

    private static let usualHost = "http://169.254.169.254"
    private static let version = ["api-version": "2018-02-01"]

    /// Creates a source with the host that a cluster names as a replacement, or else the well-known address.
    package init(_ surroundings: MachineSurroundings) throws(IdentityError) {
        let host = try Endpoint.url("AZURE_POD_IDENTITY_AUTHORITY_HOST", in: surroundings) ?? Self.usualHost
        url = host.trimmed(of: "/") + "/metadata/identity/oauth2/token"
    }

    /// Returns the request for a token.
    package func request(for demand: Demand) -> PlatformRequest {
        var query = Self.version.merging(demand.id.parameter(resourceID: "msi_res_id")) { $1 }
        query["resource"] = demand.resource
        return PlatformRequest(url, query: query, headers: ["Metadata": Secret("true")])
    }

    // MARK: Probing

    /// The request that only checks whether the service exists.
    ///
    /// It lacks the header that the service requires, so the service answers immediately and reveals nothing.
    package var probe: PlatformRequest { PlatformRequest(url, query: Self.version) }

    /// Checks the answer to the probe; returns normally if the service exists.
    ///
    /// - Throws: `unavailable` if another server answered in its place, such as Docker Desktop or a network's sign-in
    ///   page.
    package func checkProbe(_ answer: HTTPAnswer) throws(IdentityError) {
        let isElse =
            answer.status == 200 ? PlatformToken.members(of: answer) == nil : IdentityError.isUnreachable(answer)
        guard !isElse else { throw IdentityError.absent(from: self) }
    }
}

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
    package init(_ surroundings: MachineSurroundings) throws(IdentityError) {
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
    package func translated(_ fault: PlatformFault) -> PlatformFault {
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
