import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON

/// Gitea's and Forgejo's packages and images, as far as programs ask for them before they get one: a token of the host opens them.
extension HostSite {
    /// Each registry has one package.
    private static let package = "hello"

    func packages(_ visit: Visit, _ path: [String]) -> Response {
        guard let token = token(of: visit) else {
            return .json(["message": "authentication required"], status: .unauthorized)
                .challenging("Basic realm=\"Gitea Package API\"")
        }
        visit.user = token.grant.signedIn.username
        let place = "\(host.url)/\(visit.segments.prefix(4).joined(separator: "/"))"
        return switch Array(path.dropFirst()) {
        case ["npm", Self.package]:
            .json([
                "name": .string(Self.package), "dist-tags": ["latest": "1.0.0"],
                "versions": [
                    "1.0.0": [
                        "name": .string(Self.package), "version": "1.0.0",
                        "dist": ["tarball": .string("\(place)/-/hello-1.0.0.tgz")],
                    ]
                ],
            ])
        case ["pypi", "simple", Self.package]:
            Response(
                uncached: "<a href=\"../../files/hello-1.0-py3-none-any.whl\">hello-1.0-py3-none-any.whl</a>\n",
                type: "text/html", status: .ok)
        default: .json(["message": "not found"], status: .notFound)
        }
    }

    /// The images: whoever asks has to get a token of the registry's own first, for one of the host's.
    func images(_ visit: Visit, _ path: [String]) -> Response {
        if path == ["token"] {
            guard case .basic? = visit.authorization, let token = token(of: visit) else {
                return .json(["message": "authentication required"], status: .unauthorized)
            }
            visit.user = token.grant.signedIn.username
            let own = "registry-" + newSecret()
            host.ledger.with { $0.accessTokens[own] = token }
            return .json(["token": .string(own)])
        }
        guard let token = visit.bearer, token.hasPrefix("registry-"), liveToken(token) != nil else {
            return .json(["errors": [["code": "UNAUTHORIZED"]]], status: .unauthorized)
                .challenging("Bearer realm=\"\(host.url)/v2/token\",service=\"container_registry\",scope=\"*\"")
        }
        return switch path {
        case []: .json([:])
        case ["contoso", Self.package, "tags", "list"]:
            .json(["name": .string("contoso/\(Self.package)"), "tags": ["1.0"]])
        default: .json(["errors": [["code": "NAME_UNKNOWN"]]], status: .notFound)
        }
    }

    private func token(of visit: Visit) -> Ledger<HostRequest>.AccessToken? {
        switch visit.authorization {
        case .basic(_, let token), .bearer(let token): liveToken(token)
        default: nil
        }
    }
}
