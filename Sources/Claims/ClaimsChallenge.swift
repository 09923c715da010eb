import Addresses

/// What a server's challenges say about the token that it needs.
///
/// None of it is trusted: it can't choose the resource of the host, nor the authority to ask.
public struct ClaimsChallenge: Sendable, Equatable {
    /// The claims that the server asks for, which should be JSON but aren't validated; nil if there are none.
    ///
    /// Of several challenges, the first one counts that is Bearer's, says `insufficient_claims` and has claims.
    public let claims: String?
    /// The URL by which the server names the authority that it wants tokens from, without a query or trailing slashes; nil
    /// if it names none.
    ///
    /// It may be the URL of an endpoint, which only the authority's plugin can tell.
    public let authority: String?

    /// Parses the values of a response's `WWW-Authenticate` headers, in order.
    public init(_ headers: [String]) {
        let bearer = AuthenticateChallenge.read(headers).filter { $0.scheme == "bearer" }
        claims = bearer.lazy.compactMap(\.claims).first
        authority = bearer.lazy.compactMap(\.authority).first
    }
}

extension AuthenticateChallenge {
    /// The claims of a claims challenge, decoded if they are in base64, as Entra sends them.
    fileprivate var claims: String? {
        guard parameters["error"]?.lowercased() == "insufficient_claims", let text = parameters["claims"], !text.isEmpty
        else { return nil }
        // A JSON object's brace isn't valid in base64, so there is no ambiguity.
        return Base64URL.decode(text).flatMap { String(validating: $0, as: UTF8.self) } ?? text
    }

    fileprivate var authority: String? {
        let named = ["authorization_uri", "authorization", "authority"].lazy.compactMap { parameters[$0] }
        guard let text = named.first(where: { !$0.isEmpty }), let url = StrictURL(web: text) else { return nil }
        return "\(url.scheme)://" + ([url.host.urlText[...]] + url.segments).joined(separator: "/")
    }
}
