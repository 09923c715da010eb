import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON

/// Dynamic client registration (RFC 7591) at the issuer, for programs on the user's computer.
extension HostSite {
    private struct Metadata: Decodable {
        var redirect_uris: [String]
        var client_name: String?
        var token_endpoint_auth_method: String?
        var grant_types: [String]?
        var response_types: [String]?
    }

    func register(_ visit: Visit) -> Response {
        do throws(HostFailure) {
            let client = try client(registering: visit.body)
            host.register(client)
            return .json(.object(description(of: client)), status: .created)
        } catch {
            return answer(error, visit)
        }
    }

    private func client(registering body: String) throws(HostFailure) -> HostClient {
        let wish: Metadata
        do {
            wish = try JSONDecoder().decode(Metadata.self, from: Data(body.utf8))
        } catch {
            throw HostFailure("invalid_client_metadata", "The metadata is not what RFC 7591 says: \(error)")
        }
        guard !wish.redirect_uris.isEmpty, wish.redirect_uris.allSatisfy(isOnThisComputer) else {
            throw HostFailure("invalid_redirect_uri", "A redirect_uri must be http on 127.0.0.1, [::1] or localhost.")
        }
        // RFC 7591's defaults.
        let method = wish.token_endpoint_auth_method ?? "client_secret_basic"
        let grants = Set(wish.grant_types ?? ["authorization_code"])
        guard ["none", "client_secret_basic"].contains(method), grants.isSubset(of: HostClient.allGrants),
            wish.response_types ?? ["code"] == ["code"]
        else {
            throw HostFailure("invalid_client_metadata", "This way of proof, grant type or response type isn't known.")
        }
        return HostClient(
            id: newIdentifier(), name: wish.client_name ?? "unnamed program",
            secret: method == "none" ? nil : newSecret(), redirectURIs: wish.redirect_uris, grants: grants)
    }

    private func isOnThisComputer(_ uri: String) -> Bool {
        guard let url = URL(string: uri), url.scheme == "http", url.fragment() == nil else { return false }
        return ["127.0.0.1", "::1", "[::1]", "localhost"].contains(url.host() ?? "")
    }

    private func description(of client: HostClient) -> [String: JSONValue] {
        var members: [String: JSONValue] = [
            "client_id": .string(client.id), "client_id_issued_at": .integer(Date.now.unix),
            "client_name": .string(client.name), "redirect_uris": JSONValue(strings: client.redirectURIs),
            "grant_types": JSONValue(strings: client.grants.sorted()), "response_types": ["code"],
            "token_endpoint_auth_method": client.secret == nil ? "none" : "client_secret_basic",
        ]
        if let secret = client.secret {
            members["client_secret"] = .string(secret)
            members["client_secret_expires_at"] = 0
        }
        return members
    }
}
