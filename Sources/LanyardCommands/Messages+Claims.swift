import Claims
import Secrets
import Terminal

extension Failure {
    /// Creates the error for invalid claims.
    init(_ error: ClaimsError, status: ExitStatus = .failed) {
        self.init(
            "the claims request is not valid: \(Self.reason(error))", hints: [Hint(Self.claimsHint(error))],
            status: status)
    }

    /// Creates the error for a server's challenge with invalid claims.
    init(challengeOf host: String, _ error: ClaimsError) {
        self.init(
            "\(host.displayable(limit: 255)) asks for claims that are not valid: \(Self.reason(error))",
            hints: [Hint("tell its administrator, or name the claims yourself", run: "lanyard login --claims JSON")])
    }

    private static func reason(_ error: ClaimsError) -> String {
        switch error {
        case .tooLong: "it is longer than \(ClaimsRequest.longest) bytes"
        case .notAnObject: "it is not a JSON object"
        case .unknownTarget(let name): "`\(name.displayable(limit: 60))` is none of id_token, userinfo and access_token"
        case .malformedTarget(let name): "`\(name.displayable(limit: 60))` is not an object of claims"
        case .malformedClaim(let name):
            "the claim `\(name.displayable(limit: 60))` is neither null nor an object with essential, value or values"
        case .malformedShortForm(let text): "`\(text.displayable(limit: 100))` is not of the form TARGET.NAME"
        }
    }

    private static func claimsHint(_ error: ClaimsError) -> String {
        switch error {
        case .malformedShortForm:
            "write it like id_token.auth_time=essential, access_token.acrs=value:c1 or id_token.acr=values:a,b"
        case .notAnObject:
            #"write it like {"id_token":{"auth_time":{"essential":true}}}; decode a server's claims first"#
        case .tooLong, .unknownTarget, .malformedTarget, .malformedClaim:
            #"write it like {"id_token":{"auth_time":{"essential":true}}}"#
        }
    }

    /// Returns the claims if they can be shown completely; nil if not, or if there are none.
    static func claimsToAskFor(_ claims: String?) -> String? {
        guard let claims, claims == claims.displayable(limit: 500), (try? ClaimsRequest(claims)) != nil else {
            return nil
        }
        return claims
    }
}
