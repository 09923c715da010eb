import Addresses
import Crypto
import FoundationEssentials

/// One authorization request (RFC 6749, 4.1.1; RFC 7636; OpenID Connect Core 1.0, 3.1.2.1), with fresh secrets.
package struct AuthorizationRequest: Sendable {
    /// How the authority returns its response.
    enum ResponseMode: String, Sendable {
        /// The browser posts the response, which keeps it out of URLs, histories and logs.
        case formPost = "form_post"
        /// The response is in the URL, which the user can paste.
        case query
    }

    let redirectURI: String
    let responseMode: ResponseMode
    let proofKey = ProofKey()
    /// Binds the response to this request.
    let state = RandomText.urlSafe()
    /// Binds the ID token to this request: the digest of a secret that is never sent.
    let nonce = SHA256.hash(data: Data(RandomText.urlSafe().utf8)).hexadecimal

    /// Returns the URL of the page to open: the client's request, with additional parameters after all others.
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
        // Authorities that can't post the response put it into the URL by default.
        if client.postsAnswers { fields.append(("response_mode", responseMode.rawValue)) }
        fields += parameters
        return FormEncoding.append(fields, to: endpoint)
    }
}
