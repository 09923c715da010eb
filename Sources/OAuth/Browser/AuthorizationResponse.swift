import Addresses
package import Secrets

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
