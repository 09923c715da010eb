import Addresses
import Claims

extension TokenRequest {
    /// Takes over what the server of a mapped host says about the token it wants (`wwwauth[]`).
    ///
    /// That is little, since a server is not to be trusted. It can have claims asked for, unless the consumer named its
    /// own; and if the authority is the default one for well-known hosts, and leaves the realm open, it can name
    /// the realm. It can't map a host, name a resource or bring in an authority.
    ///
    /// - Parameters:
    ///   - request: what the consumer asked, with the server's headers.
    ///   - narrowing: the authority with the realm of another URL of it; nil if it has a realm, or the URL names none of its
    ///     own.
    /// - Throws: `ResolutionError.badChallenge` if the claims wanted can't be asked for.
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
