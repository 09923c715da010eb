import Addresses
import Crypto
import FoundationEssentials

/// One authorization request (RFC 6749, 4.1.1; RFC 7636; OpenID Connect Core 1.0, 3.1.2.1), with its fresh secrets.
package struct AuthorizationRequest: Sendable {
    /// How the answer comes back.
    enum ResponseMode: String, Sendable {
        /// Posted by the browser: it stays out of addresses, histories and logs.
        case formPost = "form_post"
        /// In the address, for a person to paste.
        case query
    }

    let redirectURI: String
    let responseMode: ResponseMode
    let proofKey = ProofKey()
    /// Ties the answer to this request.
    let state = RandomText.urlSafe()
    /// Ties the ID token to this request: the digest of a secret that is never sent.
    let nonce = AuthorizationRequest.digest(RandomText.urlSafe())

    /// The page to open: the client's request, with further parameters behind all others.
    func url(for client: OAuthClient, at endpoint: String, _ parameters: [FormEncoding.Field]) -> String {
        var fields: [FormEncoding.Field] = [
            ("client_id", client.id), ("response_type", "code"), ("redirect_uri", redirectURI),
        ]
        fields +=
            client.scopeField + [
                ("state", state), ("code_challenge", proofKey.challenge), ("code_challenge_method", ProofKey.method),
            ]
        if client.sendsNonce { fields.append(("nonce", nonce)) }
        fields += client.parameters
        // In the address is where an answer comes that can't be posted.
        if client.postsAnswers { fields.append(("response_mode", responseMode.rawValue)) }
        fields += parameters
        return FormEncoding.append(fields, to: endpoint)
    }

    private static func digest(_ secret: String) -> String {
        SHA256.hash(data: Data(secret.utf8)).hexadecimal
    }
}
