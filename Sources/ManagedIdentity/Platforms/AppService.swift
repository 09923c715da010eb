package import OAuth
import Secrets

/// App Service, Functions, Container Apps, and Automation, which speaks the same dialect.
package struct AppService: TokenSource {
    /// The platform.
    package let platform = Platform.appService
    /// Where its requests go.
    package let url: String
    private let header: Secret

    /// Makes it of the variables, which are read anew for each request: the header's value changes.
    package init(_ surroundings: Surroundings) throws(IdentityError) {
        url = try Endpoint.requiredURL("IDENTITY_ENDPOINT", in: surroundings)
        header = try Endpoint.header("IDENTITY_HEADER", in: surroundings)
    }

    /// The request for a token.
    package func request(for demand: Demand) -> DirectRequest {
        var query = demand.id.parameter(resourceID: "mi_res_id")
        query["api-version"] = "2019-08-01"
        query["resource"] = demand.resource
        // Only Automation wants the second, and the others don't mind.
        return DirectRequest(url, query: query, headers: ["X-IDENTITY-HEADER": header, "Metadata": Secret("true")])
    }
}
