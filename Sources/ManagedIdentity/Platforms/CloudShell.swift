package import OAuth
import Secrets

/// Azure Cloud Shell, whose tokens are those of the person who opened it.
package struct CloudShell: TokenSource {
    /// The platform.
    package let platform = Platform.cloudShell
    /// Where its requests go.
    package let url: String

    /// Makes it of the variables.
    package init(_ surroundings: Surroundings) throws(IdentityError) {
        url = try Endpoint.requiredURL("MSI_ENDPOINT", in: surroundings)
    }

    /// The request for a token.
    package func request(for demand: Demand) throws(IdentityError) -> DirectRequest {
        try requireSystem(demand)
        return DirectRequest(url, headers: ["Metadata": Secret("true")], form: ["resource": demand.resource])
    }
}
