import Addresses
import Crypto
import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON
import NIOCore

/// A container registry that belongs to the first organization, as an Azure Container Registry belongs to its tenant; by the
/// names of AWS's and Google's, it is one of theirs.
///
/// It exchanges an Entra token for a refresh token of its own, that for an access token, and accepts the latter for its
/// only image.
struct Registry: Sendable {
    let world: World

    /// The user name that marks the password as a refresh token.
    private static let nobody = "00000000-0000-0000-0000-000000000000"

    /// The registry's service name, as its clients know it.
    private var service: String { String(world.exchanges.dropFirst("https://".count)) }

    func route(_ visit: Visit) async throws -> Response {
        switch (visit.method, visit.segments) {
        case (.post, ["oauth2", "exchange"]): return try await exchange(visit)
        case (.post, ["oauth2", "token"]), (.get, ["oauth2", "token"]), (.get, ["token"]):
            return try await token(visit)
        case (.get, let path) where path.first == "v2", (.head, let path) where path.first == "v2":
            return await content(visit, Array(path.dropFirst()))
        default: return refusal("NAME_UNKNOWN", "there is nothing here", .notFound)
        }
    }

    // MARK: - Tokens

    private func exchange(_ visit: Visit) async throws -> Response {
        guard visit.form["grant_type"] == "access_token", visit.form["service"] == service,
            let token = visit.form["access_token"]
        else { return refusal("BAD_REQUEST", "grant_type, service and access_token are wrong", .badRequest) }
        guard let claims = await entra(token), let tenant = claims["tid"]?.string, let name = claims["oid"]?.string
        else {
            return refusal("UNAUTHORIZED", "authentication required, the token is not for registries", .unauthorized)
        }
        visit.user = claims["preferred_username"]?.string
        guard tenant == visit.form["tenant"], tenant == world.directory.tenants.first?.id else {
            return refusal("UNAUTHORIZED", "authentication required, the token is of another tenant", .unauthorized)
        }
        let lifetime = Int64(world.settings.registryTokenLifetime)
        let refreshToken = try await world.key.sign(
            makeClaims(
                of: name, for: visit, lifetime: lifetime,
                [
                    "grant_type": "refresh_token", "tenant": .string(tenant),
                    "name": claims["preferred_username"] ?? .null,
                ]))
        return .json(["refresh_token": .string(refreshToken)])
    }

    /// Returns the claims of a valid Entra token for registries.
    private func entra(_ token: String) async -> Claims? {
        guard let claims = await world.key.verify(token), let end = claims["exp"]?.integer, end > Date.now.unix,
            let audience = claims["aud"]?.string,
            world.directory.resource("https://containerregistry.azure.net")?.identifiers.contains(audience) == true
        else { return nil }
        return claims
    }

    /// Returns an access token for a refresh token in a form or password (docs.docker.com, token authentication).
    private func token(_ visit: Visit) async throws -> Response {
        // As ECR Public does, it takes a password of AWS's.
        if case .basic("AWS", let password) = visit.authorization,
            let keys = world.keys(ofPassword: password, for: ["ecr-public"])
        {
            return try await accessToken(of: keys.role, called: keys.name, visit)
        }
        // As Google's registries do, it takes an access token of Google's, too.
        if case .basic("oauth2accesstoken", let password) = visit.authorization {
            guard let token = GoogleCloud(world: world).live(password), token.scopes.contains(GoogleCloud.cloud) else {
                return refusal("UNAUTHORIZED", "authentication failed", .unauthorized)
            }
            return try await accessToken(of: token.account, called: token.account, visit)
        }
        var presented = visit.form["refresh_token"]
        if case .basic(let name, let password) = visit.authorization, name == Self.nobody { presented = password }
        guard let presented, let claims = await own(presented, "refresh_token"), let name = claims["sub"]?.string else {
            return refusal("UNAUTHORIZED", "authentication required", .unauthorized)
        }
        return try await accessToken(of: name, called: claims["name"]?.string, visit)
    }

    private func accessToken(of subject: String, called name: String?, _ visit: Visit) async throws -> Response {
        visit.user = name
        let accessToken = try await world.key.sign(
            makeClaims(
                of: subject, for: visit, lifetime: 4500, ["grant_type": "access_token", "name": JSONValue(name)]))
        return .json(["access_token": .string(accessToken), "token": .string(accessToken), "expires_in": 4500])
    }

    private func makeClaims(of name: String, for visit: Visit, lifetime: Int64, _ further: Claims) -> Claims {
        let now = visit.arrived.unix
        let members: Claims = [
            "iss": "Sandbox Container Registry", "aud": .string(service), "sub": .string(name), "iat": .integer(now),
            "nbf": .integer(now), "exp": .integer(now + lifetime), "jti": .string(newIdentifier()),
        ]
        return members.merging(further) { $1 }
    }

    /// Returns the claims of one of the registry's own tokens of this kind; nil for anything else.
    private func own(_ token: String, _ kind: String) async -> Claims? {
        guard let claims = await world.key.verify(token), claims["aud"]?.string == service,
            claims["grant_type"]?.string == kind, let end = claims["exp"]?.integer, end > Date.now.unix
        else { return nil }
        return claims
    }

    // MARK: - Content

    private func content(_ visit: Visit, _ path: [String]) async -> Response {
        if isPrivate(visit) {
            guard case .basic("AWS", let password) = visit.authorization,
                let keys = world.keys(ofPassword: password, for: ["ecr"])
            else { return challenge(visit) }
            visit.user = keys.name
        } else {
            guard case .bearer(let token) = visit.authorization, let claims = await own(token, "access_token") else {
                return challenge(visit)
            }
            visit.user = claims["name"]?.string
        }
        switch path {
        case []: return .json([:])
        case ["hello", "tags", "list"]: return .json(["name": "hello", "tags": ["latest"]])
        case ["hello", "manifests", "latest"], ["hello", "manifests", Image.digest(Image.manifest)]:
            return blob(Image.manifest, "application/vnd.oci.image.manifest.v1+json", visit)
        case ["hello", "blobs", Image.digest(Image.configuration)]:
            return blob(Image.configuration, "application/octet-stream", visit)
        default: return refusal("NAME_UNKNOWN", "there is only hello:latest", .notFound)
        }
    }

    private func blob(_ text: String, _ type: String, _ visit: Visit) -> Response {
        var response = Response(status: .ok, headers: [.contentType: type, .contentLength: String(text.utf8.count)])
        if let name = HTTPField.Name("Docker-Content-Digest") { response.headers[name] = Image.digest(text) }
        if visit.method != .head { response.body = .init(byteBuffer: ByteBuffer(string: text)) }
        return response
    }

    /// Whether a request is for a private registry of AWS's, which takes passwords and has no tokens.
    private func isPrivate(_ visit: Visit) -> Bool { visit.host.hasSuffix(".dkr.ecr.eu-central-1.amazonaws.com") }

    private func challenge(_ visit: Visit) -> Response {
        let refusal = refusal("UNAUTHORIZED", "authentication required", .unauthorized)
        guard !isPrivate(visit) else {
            return refusal.challenging("Basic realm=\"https://\(visit.host)/\",service=\"ecr.amazonaws.com\"")
        }
        let realm = visit.host == "public.ecr.aws" ? "https://\(visit.host)/token/" : "\(world.exchanges)/oauth2/token"
        return refusal.challenging(
            "Bearer realm=\"\(realm)\",service=\"\(service)\",scope=\"repository:hello:pull\"")
    }

    private func refusal(_ code: String, _ message: String, _ status: HTTPResponse.Status) -> Response {
        .json(["errors": [["code": .string(code), "message": .string(message)]]], status: status)
    }

    /// An empty image.
    private enum Image {
        static let configuration = JSONValue.object([
            "architecture": "amd64", "os": "linux", "config": [:], "rootfs": ["type": "layers", "diff_ids": []],
        ]).encodedText
        static let manifest = JSONValue.object([
            "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "layers": [],
            "config": [
                "mediaType": "application/vnd.oci.image.config.v1+json", "digest": .string(digest(configuration)),
                "size": .integer(Int64(configuration.utf8.count)),
            ],
        ]).encodedText

        static func digest(_ text: String) -> String {
            "sha256:" + SHA256.hash(data: Data(text.utf8)).hexadecimal
        }
    }
}
