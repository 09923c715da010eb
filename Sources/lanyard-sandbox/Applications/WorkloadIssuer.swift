import FoundationEssentials
import Hummingbird
import JSON

/// An issuer of assertions like a CI service's: a job sends its own token, and gets a token for the audience it names.
extension World {
    /// The issuer's name.
    var workloadIssuer: String { authority + "/_actions" }
    /// The URL for a job's requests.
    var workloadRequestURL: String { workloadIssuer + "/token?api-version=2.0" }
    /// The subject of its tokens.
    static let workloadSubject = "repo:contoso/hello:ref:refs/heads/main"

    /// Returns an assertion for the audience, which the job must name.
    func workloadToken(_ visit: Visit) async throws -> Response {
        guard case .bearer(workloadRequestToken)? = visit.authorization else {
            return .json(["message": "send the job's token"], status: .unauthorized)
        }
        guard let audience = visit.query["audience"] else {
            return .json(["message": "name an audience"], status: .badRequest)
        }
        let token = try await workloadAssertion(["aud": .string(audience)])
        return .json(["value": .string(token), "count": .integer(Int64(token.utf8.count))])
    }

    /// Returns an assertion as Azure Pipelines does, for a job's service connection.
    func pipelineToken(_ visit: Visit) async throws -> Response {
        guard case .bearer(workloadRequestToken)? = visit.authorization, visit.method == .post else {
            return .json(["message": "post with the job's token"], status: .unauthorized)
        }
        guard visit.query["serviceConnectionId"] != nil else {
            return .json(["message": "name a service connection"], status: .badRequest)
        }
        return .json(["oidcToken": .string(try await workloadAssertion([:]))])
    }

    /// Returns a signed assertion for the job, with these claims changed.
    func workloadAssertion(_ changes: Claims) async throws -> String {
        let now = Date.now.unix
        let claims: Claims = [
            "iss": .string(workloadIssuer), "sub": .string(Self.workloadSubject),
            "aud": .string(AssertionCheck.federatedAudience), "jti": .string(newIdentifier()), "iat": .integer(now),
            "nbf": .integer(now), "exp": .integer(now + 300),
        ]
        return try await key.sign(claims.merging(changes) { $1 })
    }
}
