import Addresses
import Crypto
import FoundationEssentials
package import Secrets

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
    let state = Base64URL.random()
    /// Binds the ID token to this request: the digest of a secret that is never sent.
    let nonce = SHA256.hash(data: Data(Base64URL.random().utf8)).hexadecimal

    /// Returns the URL of the page to open: the client's request, with additional parameters after all others.
    func url(for client: OAuthClient, at endpoint: String, _ parameters: [FormEncoding.Field]) -> String {
        var fields: [FormEncoding.Field] = [
            ("client_id", client.id), ("response_type", "code"), ("redirect_uri", redirectURI),
        ]
        let scopes = [client.scope, client.furtherScopes].filter { !$0.isEmpty }.joined(separator: " ")
        fields +=
            (scopes.isEmpty ? [] : [("scope", scopes)]) + [
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

/// The response that arrived at the redirect URI (RFC 6749, 4.1.2).
package struct AuthorizationResponse: Sendable {
    private let fields: [String: String]
    /// The URL that was pasted with the response; nil if the browser delivered the response or the pasted text had no
    /// URL.
    private let place: String?

    /// Parses a form body or a query.
    init(form: Substring, at place: String? = nil) {
        fields = FormEncoding.decode(form)
        self.place = place
    }

    /// Parses the user's pasted text: the final URL in the browser, or its part after `?` or `#`.
    init(pasted: Secret) {
        let text = pasted.reveal().trimmed(of: " \t\r\n\"'")
        guard text.utf8.count <= 65_536, let mark = text.utf8.firstIndex(where: { "?#".utf8.contains($0) }) else {
            self.init(form: text.utf8.count <= 65_536 ? text : "")
            return
        }
        let query = text[text.utf8.index(after: mark)...]
        let place = String(text[..<mark])
        self.init(form: query.replacing(bytes: "#", with: "&")[...], at: place.isEmpty ? nil : place)
    }

    /// Whether the response may have arrived at a redirect URI; false if it was pasted with a different URL.
    func mayHaveCome(to redirectURI: String) -> Bool {
        guard let here = place.flatMap({ StrictURL($0) }), let there = StrictURL(redirectURI) else { return true }
        let path = { (url: StrictURL) in url.path.isEmpty ? "/" : url.path }
        return here.scheme == there.scheme && here.host == there.host && path(here) == path(there)
    }

    /// Returns a parameter; nil if it is missing or repeated.
    package subscript(name: String) -> String? { fields[name] }
    /// Whether it is a response to an authorization request.
    var isResponse: Bool { fields["code"] != nil || fields["error"] != nil }
    var hasCode: Bool { fields["code"] != nil }
    /// Whether it answers the request with this state.
    func answers(state: String) -> Bool { fields["state"] == state }
    /// The authority's refusal; nil if the response isn't one.
    package var refusal: ErrorResponse? { ErrorResponse(response: fields) }
    /// The authorization code; nil if there is none or it is empty.
    package var code: Secret? { fields["code"].flatMap { $0.isEmpty ? nil : Secret($0) } }
}

/// Proof Key for Code Exchange (RFC 7636) with S256, the only method used.
struct ProofKey: Sendable, Equatable {
    /// The method's name in requests.
    static let method = "S256"
    /// The code verifier: 43 unreserved characters that encode 32 random bytes.
    var verifier = Base64URL.random()

    /// The code challenge, which the browser sends (RFC 7636, 4.2).
    var challenge: String {
        Base64URL.encode(SHA256.hash(data: Data(verifier.utf8)))
    }
}

extension Base64URL {
    /// Returns unguessable text: 43 URL-safe characters that encode 32 bytes from the system's random number generator.
    static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return encode((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
