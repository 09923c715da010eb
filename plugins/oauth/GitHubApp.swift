import Addresses
import FoundationEssentials
import HTTP
import JSON
import OAuth
import PluginOAuth
import PluginWire
import Secrets

/// A GitHub App, which gets a token for each repository of an account that has installed it.
///
/// The request's resource is the repository's URL, or that of the account that owns it for all of its repositories. The scopes are
/// permissions, such as `contents:read`.
struct GitHubApp {
    let session: IssuerSession
    /// The URL of the API, without a slash at its end.
    let api: String

    /// Finds the installation, and gets a token that is for the repository and the permissions alone.
    ///
    /// - Throws: `invalid-request` if the App isn't installed there, lacks a permission, or has another key.
    func token(of identity: PluginIdentity) async throws(PluginError) -> PluginResult {
        let target = try target
        let permissions = try permissions
        guard let path = identity.certificate else {
            throw PluginError(
                .unsupported, "a GitHub App proves who it is by its private key",
                hint: "write certificate = \"/path/to/its.private-key.pem\"")
        }
        let id = session.request.clientID
        let proof = try await session.plainly { () async throws(OAuthError) in
            try ClientCertificate(file: path, password: identity.certificatePassword, mayBeKey: true).appToken(of: id)
        }
        let installation = try await installation(at: target, proof)
        var wanted: [String: JSONValue] = ["permissions": .object(permissions)]
        if let name = target.repository { wanted["repositories"] = [.string(name)] }
        let body = JSONValue.object(wanted).encodedText
        let answer = try await session.plainly { () async throws(OAuthError) in
            try await session.transport.post(
                "\(api)/app/installations/\(installation)/access_tokens", json: body, headers: Self.headers(proof),
                .harmless)
        }
        guard answer.status == 201 else { throw refusal(answer, target) }
        guard let token = answer.json?["token"]?.string, WireForm.secret.accepts(token),
            let text = answer.json?["expires_at"]?.string, let end = try? Date(text, strategy: .iso8601)
        else { throw PluginError(.internal, "\(host) gave no token that can be used") }
        return session.result(
            Secret(token), expiresIn: answer.lifetime(until: end.timeIntervalSince1970), session.request.scopes)
    }

    private var host: String { session.address.hostText }

    private static func headers(_ proof: Secret) -> [(String, String)] {
        [
            ("authorization", "Bearer \(proof.reveal())"), ("accept", "application/vnd.github+json"),
            ("x-github-api-version", "2022-11-28"),
        ]
    }

    /// What a token is for.
    private struct Target {
        /// The user or organisation.
        let owner: String
        /// The repository's name; nil for all that the App may use.
        let repository: String?

        var text: String { repository.map { "\(owner)/\($0)" } ?? owner }
    }

    private var target: Target {
        get throws(PluginError) {
            guard let resource = session.request.resources.first, session.request.resources.count == 1,
                let url = StrictURL(https: resource), url.hostText == host, (1...2).contains(url.segments.count),
                url.segments.allSatisfy(\.isPathName)
            else {
                throw PluginError(
                    .invalidRequest, "a GitHub App's token is for a repository, and the request names none",
                    hint: "have git send the path (credential.useHttpPath), or write "
                        + "resource-indicators = [\"https://\(host)/OWNER\"] in the rule, for all of an owner's")
            }
            // A wiki is its repository's, and no repository's name ends like that.
            let name = url.segments.dropFirst().first.map { $0.hasSuffix(".wiki") ? $0.dropLast(5) : $0[...] }
            return Target(owner: String(url.segments[0]), repository: name.map(String.init))
        }
    }

    private static let levels = ["read", "write", "admin"]

    private var permissions: [String: JSONValue] {
        get throws(PluginError) {
            var all: [String: JSONValue] = [:]
            for scope in session.request.scopes {
                let parts = scope.pieces(between: ":", omittingEmpty: false).map(String.init)
                // A scope of an OAuth app has the level first, as in `write:packages`.
                let (name, level) = Self.levels.contains(parts[0]) ? (parts.last, parts[0]) : (parts[0], parts.last)
                guard parts.count == 2, let name, !name.isEmpty, let level, Self.levels.contains(level) else {
                    throw PluginError(
                        .invalidRequest, "\(scope.displayable(limit: 64)) is not a permission of a GitHub App",
                        hint: "write permissions as scopes, such as \"contents:read\" or \"packages:write\"")
                }
                all[name] = .string(level)
            }
            return all
        }
    }

    /// Returns the number of the installation that has a repository, or of an owner's.
    private func installation(at target: Target, _ proof: Secret) async throws(PluginError) -> Int {
        let paths =
            target.repository == nil ? ["orgs/\(target.owner)", "users/\(target.owner)"] : ["repos/\(target.text)"]
        var last: PluginError?
        for path in paths {
            let answer = try await session.plainly { () async throws(OAuthError) in
                try await session.transport.get("\(api)/\(path)/installation", headers: Self.headers(proof))
            }
            if answer.status == 200, let id = answer.json?["id"]?.wholeNumber { return id }
            last = refusal(answer, target)
            guard answer.status == 404 else { break }
        }
        throw last ?? PluginError(.internal, "\(host) named no installation")
    }

    private func refusal(_ answer: HTTPAnswer, _ target: Target) -> PluginError {
        let said = answer.json?["message"]?.string?.displayable(limit: 200) ?? "HTTP \(answer.status)"
        let app = session.request.clientID.displayable(limit: 64)
        switch answer.status {
        case 401,
            404 where said.hasBytes("Integration not found"):
            let isTime = said.hasBytes("'exp'") || said.hasBytes("'iat'")
            return PluginError(
                .invalidRequest, "\(host) refuses the proof of the app \(app): \(said)",
                hint: isTime
                    ? "set this computer's clock" : "check the client ID, and that the key is one of the app's")
        case 404:
            return PluginError(
                .invalidRequest, "the app \(app) is not installed for \(target.text)",
                hint: "have an owner of \(target.owner) install it, and let it use the repository")
        case 301, 302, 307, 308:
            return PluginError(
                .invalidRequest, "\(host) has \(target.text) under another name by now", hint: "use its new URL")
        case 422:
            return PluginError(
                .invalidRequest, "\(host) gives the app \(app) no such token: \(said)",
                hint: "write the permissions that it has into the rule, such as scopes = [\"contents:read\"]")
        case 403 where said.hasBytes("suspended"):
            return PluginError(
                .invalidRequest, "\(host) refuses the app \(app): \(said)",
                hint: "have an owner of \(target.owner) unsuspend it, where its installed apps are listed")
        case 403 where answer.retryAfter != nil || answer.first("x-ratelimit-remaining") == "0":
            var error = PluginError(.throttled, "\(host) refuses the app \(app): \(said)")
            let reset = answer.first("x-ratelimit-reset").flatMap(Double.init).map(answer.lifetime(until:))
            error.retryAfter = answer.retryAfter ?? reset.map { min($0, 3600) }
            return error
        case 403: return PluginError(.invalidRequest, "\(host) refuses the app \(app): \(said)")
        default: return PluginError(.internal, "\(host) answered the app \(app) with \(said)")
        }
    }
}
