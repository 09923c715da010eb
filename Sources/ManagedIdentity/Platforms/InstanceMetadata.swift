import Addresses
package import OAuth
import Secrets

/// The Instance Metadata Service (IMDS) of Azure's virtual machines, scale sets and container groups.
package struct InstanceMetadata: TokenSource {
    /// The platform.
    package let platform = Platform.imds
    /// Where its requests go.
    package let url: String

    private static let usualHost = "http://169.254.169.254"
    private static let version = ["api-version": "2018-02-01"]

    /// Makes it of what clusters name in its place, or of its address.
    package init(_ surroundings: Surroundings) throws(IdentityError) {
        let host = try Endpoint.url("AZURE_POD_IDENTITY_AUTHORITY_HOST", in: surroundings) ?? Self.usualHost
        let base = Substring(host).utf8.last == UInt8(ascii: "/") ? String(host.utf8.dropLast()) ?? host : host
        url = base + "/metadata/identity/oauth2/token"
    }

    /// The request for a token.
    package func request(for demand: Demand) -> DirectRequest {
        var query = Self.version.merging(demand.id.parameter(resourceID: "msi_res_id")) { $1 }
        query["resource"] = demand.resource
        return DirectRequest(url, query: query, headers: ["Metadata": Secret("true")])
    }

    // MARK: Probing

    /// The request that only finds out whether the service is there.
    ///
    /// It lacks the header without which the service refuses: it answers at once and gives nothing away.
    package var probe: DirectRequest { DirectRequest(url, query: Self.version) }

    /// What an answer to the probe says: nothing if the service is there.
    ///
    /// - Throws: `unavailable` if somebody else answered in its place, as Docker Desktop and sign-in pages of networks do.
    package func checkProbe(_ answer: HTTPAnswer) throws(IdentityError) {
        let isElse = answer.status == 200 ? PlatformToken.members(of: answer) == nil : Refusal.isUnreachable(answer)
        guard !isElse else { throw Refusal.absent(from: self) }
    }
}
