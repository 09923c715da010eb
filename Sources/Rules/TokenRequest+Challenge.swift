public import Addresses
import Claims

extension TokenRequest {
    /// Takes over what the server of a mapped host says about the token it wants (`wwwauth[]`).
    ///
    /// That is little, since a server is not to be trusted. It can have claims asked for, unless the consumer named its
    /// own; and where the authority is the default one for well-known hosts, and leaves the tenant open, it can name
    /// the tenant. It can't map a host, name a resource or bring in an authority.
    ///
    /// - Parameters:
    ///   - request: what the consumer asked, with the server's headers.
    ///   - isSameAuthority: whether two hosts are one authority's, the second being the one that is asked.
    /// - Throws: `ResolutionError.badChallenge` where the claims wanted can't be asked for.
    public mutating func heedServer(
        of request: CredentialRequest, isSameAuthority: (RequestHost, RequestHost) -> Bool
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
        if let chosen = authority(ofTenantIn: named, isSameAuthority) { authority = chosen }
    }

    /// The authority with the tenant of another URL of it; nil where it has a tenant, or the URL names none of its own.
    private func authority(
        ofTenantIn named: String, _ isSameAuthority: (RequestHost, RequestHost) -> Bool
    ) -> String? {
        let own = authority.pieces(between: "/")
        guard own.count == 3, ["common", "organizations"].contains(own[2].lowercased()) else { return nil }
        let parts = named.pieces(between: "/", omittingEmpty: false)
        guard parts.count == 4, let there = named.hostOfURL, let here = authority.hostOfURL else { return nil }
        guard there == here || isSameAuthority(there, here) else { return nil }
        let tenant = parts[3].lowercased()
        guard tenant.isTenantID || tenant.isDomain else { return nil }
        return "https://\(own[1])/\(tenant)"
    }
}

extension String {
    /// Whether this is a tenant's GUID, lower-cased; that of zeros stands for no tenant.
    fileprivate var isTenantID: Bool {
        let groups = pieces(between: "-", omittingEmpty: false)
        return groups.map(\.utf8.count) == [8, 4, 4, 4, 12]
            && groups.joined().utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
            && utf8.contains { $0 != UInt8(ascii: "0") && $0 != UInt8(ascii: "-") }
    }

    /// Whether this is a domain's name of several labels, lower-cased.
    fileprivate var isDomain: Bool {
        let labels = pieces(between: ".", omittingEmpty: false)
        guard labels.count > 1, utf8.count <= 253 else { return false }
        return labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy {
                    (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "-")
                }
        }
    }
}
