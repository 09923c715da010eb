import Addresses
package import HTTP
import Secrets

/// The Instance Metadata Service (IMDS) of Azure's virtual machines, scale sets and container groups.
package struct InstanceMetadata: TokenSource {
    /// The Instance Metadata Service.
    package let platform = Platform.imds
    /// The URL of the token service.
    package let url: String

    private static let usualHost = "http://169.254.169.254"
    private static let version = ["api-version": "2018-02-01"]

    /// Creates a source with the host that a cluster names as a replacement, or else the well-known address.
    package init(_ surroundings: Surroundings) throws(IdentityError) {
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
        let isElse = answer.status == 200 ? PlatformToken.members(of: answer) == nil : Refusal.isUnreachable(answer)
        guard !isElse else { throw Refusal.absent(from: self) }
    }
}
