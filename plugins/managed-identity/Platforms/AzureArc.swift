import Addresses
package import HTTP
package import JSON
import Secrets

/// A machine outside Azure that the agent of Azure Arc connects to Azure.
///
/// The agent issues tokens to callers that can read a file that it names: root, and members of the group himds.
package struct AzureArc: TokenSource {
    /// Azure Arc.
    package let platform = Platform.arc
    /// The agent's URL.
    package let url: String
    private let keys: ChallengeFiles

    private static let resourceID = "msi_res_id"
    private static let usualURL = "http://localhost:40342/metadata/identity/oauth2/token"

    /// Creates a source from the variables.
    package init(_ surroundings: Surroundings) throws(IdentityError) {
        url = try Endpoint.url("IDENTITY_ENDPOINT", in: surroundings) ?? Self.usualURL
        keys = ChallengeFiles(root: surroundings.root)
    }

    /// Returns the first request, which the agent answers with the name of a file.
    package func request(for demand: Demand) -> PlatformRequest {
        var query = demand.id.parameter(resourceID: Self.resourceID)
        query["api-version"] = "2020-06-01"
        query["resource"] = demand.resource
        return PlatformRequest(url, query: query, headers: ["Metadata": Secret("true")])
    }

    /// Returns the request with the contents of that file.
    package func request(
        after answer: HTTPAnswer, to request: PlatformRequest
    ) throws(IdentityError) -> PlatformRequest? {
        switch answer.status {
        case 401: break
        case 200: throw Self.invalid("gave a token without asking for a proof", status: 200)
        // The answer itself says that the agent doesn't work.
        case let status where Refusal.isOutage(status): return nil
        // An agent that supports user-assigned identities rejects unknown ones before it asks for a proof.
        case 400..<500 where Fault(answer) != Fault(): return nil
        case let status: throw Self.invalid("answered without asking for a proof (HTTP \(status))", status: status)
        }
        guard let path = answer.only("www-authenticate").flatMap(Self.realm) else {
            throw Self.invalid("doesn't say which file proves who asks", status: 401)
        }
        var next = request
        next.headers["Authorization"] = Secret("Basic " + (try keys.contents(of: path)).reveal())
        return next
    }

    /// Returns the path in `Basic realm=PATH`; nil for any other challenge.
    private static func realm(_ challenge: String) -> String? {
        guard let (scheme, parameter) = challenge.cut(at: " "), scheme.lowercased() == "basic",
            let (name, value) = parameter.trimmed().cut(at: "="), name.trimmed().lowercased() == "realm"
        else { return nil }
        let path = String(value.trimmed(of: " \t\""))
        return path.isEmpty ? nil : path
    }

    /// Rejects the machine's own token if another identity's was requested: old agents ignore the parameters that name
    /// one.
    package func check(_ members: [String: JSONValue], for demand: Demand) throws(IdentityError) {
        guard let (name, asked) = demand.id.parameter(resourceID: Self.resourceID).first else { return }
        let names = name == Self.resourceID ? [name, "mi_res_id"] : [name]
        guard names.contains(where: { members[$0]?.string?.lowercased() == asked.lowercased() }) else {
            var error = Self.invalid("answered for another identity than it was asked for", status: 200)
            error.hint = "update the agent to one that knows assigned identities, or use the machine's own"
            throw error
        }
    }

    static func invalid(_ what: String, status: Int) -> IdentityError {
        var error = IdentityError(.invalidResponse, "\(Platform.arc.words) \(what)", hint: "see azcmagent check")
        error.status = status
        return error
    }
}
