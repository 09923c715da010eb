import Addresses
import Claims

extension TokenRequest {
    /// Applies what a mapped host's server says about the token that it needs (`wwwauth[]`).
    ///
    /// The server isn't trusted, so its influence is limited. It can ask for claims, unless the consumer sent its own.
    /// If the authority is the default one for well-known hosts and leaves the realm open, it can name the realm. It
    /// can't map a host, name a resource or add an authority.
    ///
    /// - Parameters:
    ///   - request: The consumer's request, with the server's headers.
    ///   - narrowing: Returns the authority with the realm of another URL of it; nil if it has a realm, or if the URL
    ///     has none of its own.
    /// - Throws: `ResolutionError.badChallenge` if the claims can't be requested.
    public mutating func heedServer(
        of request: CredentialRequest, narrowing: (String) -> String?
    ) throws(ResolutionError) {
        guard let host = request.host, origin != .consumer, !request.wwwAuthenticate.isEmpty else { return }
        let challenge = ClaimsChallenge(request.wwwAuthenticate)
        if let wanted = challenge.claims, request.wish.claims?.isEmpty ?? true {
            do throws(ClaimsError) {
                claims = try ClaimsRequest(wanted).text
            } catch {
                throw .badChallenge(host: host.text, error)
            }
        }
        guard case .wellKnownHost = origin, request.wish.authority == nil, let named = challenge.authority else {
            return
        }
        authority = narrowing(named) ?? authority
    }
}
