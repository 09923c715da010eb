import Secrets

/// Azure Cloud Shell, whose tokens belong to the user who opened it.
package struct CloudShell: TokenSource {
    /// Azure Cloud Shell.
    package let platform = Platform.cloudShell
    /// The URL from `MSI_ENDPOINT`.
    package let url: String

    /// Creates a source from the variables.
    package init(_ surroundings: Surroundings) throws(IdentityError) {
        url = try Endpoint.requiredURL("MSI_ENDPOINT", in: surroundings)
    }

    /// Returns the request for a token.
    package func request(for demand: Demand) throws(IdentityError) -> PlatformRequest {
        try requireSystem(demand)
        return PlatformRequest(url, headers: ["Metadata": Secret("true")], form: ["resource": demand.resource])
    }
}
