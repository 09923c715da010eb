import Addresses
package import Secrets

/// What came back to the redirect URI (RFC 6749, 4.1.2).
package struct AuthorizationResponse: Sendable {
    private let fields: [String: String]
    /// The address that it was pasted with; nil if it came by itself, or without one.
    private let place: String?

    /// Reads a form body or a query.
    init(form: Substring, at place: String? = nil) {
        fields = FormEncoding.decode(form)
        self.place = place
    }

    /// Reads what a person pasted: the address where the browser ended up, or its part after `?` or `#`.
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

    /// Whether it may have come to a redirect URI; one that was pasted with another address has not.
    func mayHaveCome(to redirectURI: String) -> Bool {
        guard let here = place.flatMap({ StrictURL($0) }), let there = StrictURL(redirectURI) else { return true }
        let path = { (url: StrictURL) in url.path.isEmpty ? "/" : url.path }
        return here.scheme == there.scheme && here.host == there.host && path(here) == path(there)
    }

    /// A parameter; nil if it isn't there once.
    package subscript(name: String) -> String? { fields[name] }
    /// Whether it answers an authorization request at all.
    var isResponse: Bool { fields["code"] != nil || fields["error"] != nil }
    /// Whether it carries a code.
    var hasCode: Bool { fields["code"] != nil }
    /// Whether it answers the request with this state.
    func answers(state: String) -> Bool { fields["state"] == state }
    /// The refusal, if it is one.
    package var refusal: ErrorResponse? { ErrorResponse(response: fields) }
    /// The authorization code.
    package var code: Secret? { fields["code"].flatMap { $0.isEmpty ? nil : Secret($0) } }
}
