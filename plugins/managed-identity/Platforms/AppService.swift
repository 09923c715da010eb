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
    package init(_ surroundings: Surroundings) throws(IdentityError) {
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
