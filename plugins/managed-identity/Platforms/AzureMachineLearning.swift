import Secrets

/// Azure Machine Learning compute.
package struct AzureMachineLearning: TokenSource {
    /// Azure Machine Learning.
    package let platform = Platform.azureML
    /// The URL from `MSI_ENDPOINT`.
    package let url: String
    private let header: Secret
    private let usualClient: String?

    /// Creates a source from the variables.
    package init(_ surroundings: Surroundings) throws(IdentityError) {
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
