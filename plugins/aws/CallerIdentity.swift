import Addresses
import JSON
import OAuth
package import PluginWire
import Secrets

/// A proof of whose AWS's keys are, for another issuer: a signed request that it sends to AWS, and that is for nobody else.
package struct CallerIdentity: Sendable {
    private let variables: MachineKeys.Variables
    private let url: String
    private let audience: String

    /// Creates the proof for an issuer.
    ///
    /// - Parameters:
    ///   - identity: The identity with the variables that lead to the keys: their own, or those of a container or an instance.
    ///   - url: The URL that the issuer sends the request to, with `{region}` for the region.
    ///   - audience: The issuer's name of itself.
    package init(_ identity: PluginIdentity, url: String, audience: String) {
        (variables, self.url, self.audience) = (MachineKeys.Variables(identity), url, audience)
    }

    /// Returns the signed request as percent-encoded JSON.
    ///
    /// - Throws: `unavailable` if this machine has no keys; `invalid-request` if the URL isn't that of AWS's token service.
    package func token() async throws(PluginError) -> String {
        let metadata = MetadataService(variables: variables)
        var keys = try variables.keys()
        if keys == nil { keys = try await metadata.keysOfContainer() }
        if keys == nil { keys = try await metadata.keysOfInstance() }
        var region = variables["AWS_REGION"] ?? variables["AWS_DEFAULT_REGION"]
        if region == nil { region = try await metadata.regionOfInstance() }
        guard let keys, let name = region else {
            throw PluginError(
                .unavailable,
                "nothing on this machine has \(keys == nil ? "keys" : "a region") of AWS, which Google wants",
                hint: "run it where AWS gives a role to the machine, or set AWS_REGION and the variables of the keys")
        }
        let target = url.replacing(bytes: "{region}", with: try Region(name, PluginRequest(.authenticate)).name)
        guard let place = StrictURL(https: target), place.host.name.hasPrefix("sts."),
            AWSDomains.contain(place.host.name)
        else {
            throw PluginError(
                .invalidRequest, "\(url.displayable(limit: 200)) is no URL of AWS's token service",
                hint: "write https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15")
        }
        let own = [("host", place.hostText), ("x-goog-cloud-target-resource", audience)]
        let signature = SignatureV4(keys: keys, region: name, service: "sts")
        let headers = own + signature.headers("POST", target, signing: [own[1]], body: "")
        let request: JSONValue = [
            "url": .string(target), "method": "POST",
            "headers": .array(headers.map { ["key": .string($0.0), "value": .string($0.1)] }),
        ]
        return request.encodedText.percentEncoded
    }
}
