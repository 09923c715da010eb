import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON

/// A client application of a host.
struct HostClient: Sendable {
    static let allGrants: Set<String> = ["authorization_code", "refresh_token", deviceGrant]
    static let deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

    var id: String
    var name: String
    /// The client secret; nil for a public client.
    var secret: String?
    var redirectURIs = ["http://127.0.0.1/"]
    var grants = allGrants
    /// Whether the forge issues it expiring tokens, as GitHub does for its Apps.
    var isApp = false

    /// The app that Gitea and Forgejo register on every server, as they have it (`models/auth/oauth2.go`).
    static let defaultApp = HostClient(
        id: "a4792ccc-144e-407e-86c9-5e7d8d9c3269", name: "git-credential-oauth",
        redirectURIs: ["http://127.0.0.1", "https://127.0.0.1"], grants: ["authorization_code", "refresh_token"])

    static func builtIn(of style: CodeHost.Style) -> [HostClient] {
        // The last characters show whether a program encodes the secret as RFC 6749, 2.3.1, requires.
        let secret = newSecret() + "+/%=&"
        switch style {
        case .issuer:
            let redirects = ["http://127.0.0.1", "http://127.0.0.1/", "http://[::1]/", "http://localhost:8400/"]
            return [
                HostClient(id: "sandbox-cli", name: "sandbox command line", redirectURIs: redirects),
                HostClient(
                    id: "sandbox-confidential", name: "sandbox program with a secret", secret: secret,
                    redirectURIs: redirects),
                robot,
            ]
        case .gitea:
            return [
                HostClient(id: "61746561-0000-4000-8000-000000000001", name: "sandbox command line"),
                HostClient(
                    id: "61746561-0000-4000-8000-000000000002", name: "sandbox program with a secret", secret: secret),
                defaultApp,
            ]
        case .forge:
            return [
                HostClient(id: "Ov23liSandboxOAuthAp", name: "sandbox OAuth app", secret: secret),
                HostClient(id: "Iv23liSandboxGitHubA", name: "sandbox GitHub App", secret: secret, isApp: true),
            ]
        }
    }

    /// Whether a redirect URI is registered for this client.
    ///
    /// It must match exactly, except for the port of a loopback address; `localhost` isn't one (RFC 8252, 7.3 and 8.3).
    /// The forge also accepts any path below the registered one; Gitea ignores case and a trailing slash.
    func accepts(redirect: String, at style: CodeHost.Style) -> Bool {
        redirectURIs.contains { registered in
            if registered == redirect { return true }
            guard let asked = LoopbackURI(redirect), let known = LoopbackURI(registered), asked.host == known.host
            else { return false }
            switch style {
            case .issuer: return asked.rest == known.rest
            case .forge: return asked.rest.isEmpty || asked.rest.hasPrefix(known.rest)
            case .gitea: return asked.bareRest == known.bareRest
            }
        }
    }
}

/// A redirect URI with a loopback address, without its port.
struct LoopbackURI {
    let host: String
    /// The path and everything after it.
    let rest: Substring
    /// The rest without the differences that Gitea ignores.
    var bareRest: String { (rest.hasSuffix("/") ? rest.dropLast() : rest).lowercased() }

    /// The path and what follows it, which is never empty.
    var path: Substring { rest.isEmpty ? "/" : rest }

    /// Where a program can listen without anybody else's name for this computer (RFC 8252, 8.3).
    static let addresses = ["http://127.0.0.1", "http://[::1]"]

    /// Nil for a URI at any other host.
    init?(_ uri: String, at hosts: [String] = addresses) {
        guard let host = hosts.first(where: uri.hasPrefix) else { return nil }
        var rest = uri.dropFirst(host.count)
        if rest.first == ":" { rest = rest.dropFirst().drop { $0.isASCII && $0.isNumber } }
        guard rest.isEmpty || rest.first == "/", !rest.contains("#") else { return nil }
        self.host = host
        self.rest = rest
    }
}

/// Dynamic client registration (RFC 7591) at the issuer, for programs on the user's computer.
extension HostSite {
    func register(_ visit: Visit) -> Response {
        do throws(HostError) {
            let client = try client(registering: visit.body)
            host.register(client)
            return .json(.object(description(of: client)), status: .created)
        } catch {
            return answer(error, visit)
        }
    }

    private func client(registering body: String) throws(HostError) -> HostClient {
        let metadata = JSONValue(bytes: body.utf8)
        func texts(_ name: String) -> [String]? { metadata?[name]?.elements.compactMap(\.string) }
        guard let redirects = texts("redirect_uris") else {
            throw HostError(
                "invalid_client_metadata", "The metadata is not what RFC 7591 says: it has no redirect_uris.")
        }
        guard !redirects.isEmpty, redirects.allSatisfy(isOnThisComputer) else {
            throw HostError("invalid_redirect_uri", "A redirect_uri must be http on 127.0.0.1, [::1] or localhost.")
        }
        // RFC 7591's defaults.
        let method = metadata?["token_endpoint_auth_method"]?.string ?? "client_secret_basic"
        let grants = Set(texts("grant_types") ?? ["authorization_code"])
        guard ["none", "client_secret_basic"].contains(method), grants.isSubset(of: HostClient.allGrants),
            texts("response_types") ?? ["code"] == ["code"]
        else {
            throw HostError("invalid_client_metadata", "This way of proof, grant type or response type isn't known.")
        }
        return HostClient(
            id: newIdentifier(), name: metadata?["client_name"]?.string ?? "unnamed program",
            secret: method == "none" ? nil : newSecret(), redirectURIs: redirects, grants: grants)
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
