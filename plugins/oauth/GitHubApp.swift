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
    var session: IssuerSession
    /// The URL of the API, without a slash at its end.
    let api: String
    /// By how many seconds GitHub's clock is ahead of this computer's, as far as that matters.
    private var clockLead = 0.0

    init(session: IssuerSession, api: String) {
        (self.session, self.api) = (session, api)
    }

    /// Finds the installation, and gets a token that is for the repository and the permissions alone.
    ///
    /// - Throws: `invalid-request` if the App isn't installed there, lacks a permission, or has another key.
    mutating func token(of identity: PluginIdentity) async throws(PluginError) -> PluginResult {
        var target = try target
        let permissions = try permissions
        let key = try await key(of: identity)
        // The owner may be a user, and memos name nobody.
        let digest = AccountIdentifier.digest("\(session.request.clientID)\0\(target.owner.lowercased())")
        let memo = "installation \(digest)"
        var answer: HTTPAnswer?
        if let known = session.memo.number(memo) {
            answer = try await token(for: target, permissions, by: known, key)
            // The App may have been installed anew, or the repository is under another name by now.
            if [404, 422].contains(answer?.status) { answer = nil }
        }
        if answer == nil {
            let found = try await installation(at: &target, key)
            session.memo.keep(found, memo)
            answer = try await token(for: target, permissions, by: found, key)
        }
        guard let answer, answer.status == 201 else { throw refusal(answer, target.text) }
        guard let token = answer.json?["token"]?.string, WireForm.secret.accepts(token),
            let text = answer.json?["expires_at"]?.string, let end = try? Date(text, strategy: .iso8601)
        else { throw PluginError(.internal, "\(host) gave no token that can be used") }
        return session.result(
            Secret(token), expiresIn: answer.lifetime(until: end.timeIntervalSince1970), session.request.scopes)
    }

    /// Returns the App's name, which shows that GitHub accepts its key.
    mutating func name(of identity: PluginIdentity) async throws(PluginError) -> String {
        let key = try await key(of: identity)
        let url = "\(api)/app"
        let answer = try await ask(key) { session, headers throws(OAuthError) in
            try await session.transport.get(url, headers: headers)
        }
        guard answer.status == 200, let name = answer.json?["name"]?.string else { throw refusal(answer, "") }
        return name.displayable(limit: 100)
    }

    private func key(of identity: PluginIdentity) async throws(PluginError) -> ClientCertificate {
        guard let path = identity.certificate else {
            throw PluginError(
                .unsupported, "a GitHub App proves who it is by its private key",
                hint: "write certificate = \"/path/to/its.private-key.pem\"")
        }
        return try await session.plainly { () async throws(OAuthError) in
            try ClientCertificate(file: path, password: identity.certificatePassword, mayBeKey: true)
        }
    }

    /// Sends a request with the App's proof; once more with GitHub's time, if this computer's is what it refuses.
    private mutating func ask(
        _ key: ClientCertificate,
        _ send: (IssuerSession, [(String, String)]) async throws(OAuthError) -> HTTPAnswer
    ) async throws(PluginError) -> HTTPAnswer {
        let (session, app) = (session, session.request.clientID)
        func answer(by lead: Double) async throws(PluginError) -> HTTPAnswer {
            try await session.plainly { () async throws(OAuthError) in
                let proof = try key.appToken(of: app, now: .now.addingTimeInterval(lead))
                return try await send(session, Self.headers(proof))
            }
        }
        let first = try await answer(by: clockLead)
        guard first.status == 401, clockLead == 0, Self.isAboutTime(first), let time = first.time else { return first }
        clockLead = Double(time) - Date.now.timeIntervalSince1970
        return try await answer(by: clockLead)
    }

    private mutating func token(
        for target: Target, _ permissions: [String: JSONValue], by installation: Int, _ key: ClientCertificate
    ) async throws(PluginError) -> HTTPAnswer {
        var wanted: [String: JSONValue] = ["permissions": .object(permissions)]
        if let id = target.id {
            wanted["repository_ids"] = [.integer(Int64(id))]
        } else if let name = target.repository {
            wanted["repositories"] = [.string(name)]
        }
        let (url, body) = (
            "\(api)/app/installations/\(installation)/access_tokens", JSONValue.object(wanted).encodedText
        )
        return try await ask(key) { session, headers throws(OAuthError) in
            try await session.transport.post(url, json: body, headers: headers, .harmless)
        }
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
        /// The repository's number, if it is under another name by now.
        var id: Int?

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
    ///
    /// For a repository's former name, GitHub names the repository by its number.
    private mutating func installation(at target: inout Target, _ key: ClientCertificate) async throws(PluginError)
        -> Int
    {
        var paths =
            target.repository == nil ? ["orgs/\(target.owner)", "users/\(target.owner)"] : ["repos/\(target.text)"]
        var last: HTTPAnswer?
        while !paths.isEmpty {
            let url = "\(api)/\(paths.removeFirst())/installation"
            let answer = try await ask(key) { session, headers throws(OAuthError) in
                try await session.transport.get(url, headers: headers)
            }
            if answer.status == 200, let id = answer.json?["id"]?.wholeNumber { return id }
            last = answer
            if let id = repository(movedTo: answer), target.repository != nil, target.id == nil {
                target.id = id
                paths = ["repositories/\(id)"]
            } else if answer.status != 404 {
                break
            }
        }
        throw refusal(last, target.text)
    }

    /// Returns the number of the repository that an answer redirects to, at the same API; nil if it doesn't.
    private func repository(movedTo answer: HTTPAnswer) -> Int? {
        guard [301, 302, 307, 308].contains(answer.status), let place = answer.first("location"),
            place.hasPrefix("\(api)/repositories/"), place.hasSuffix("/installation")
        else { return nil }
        return Int(place.dropFirst("\(api)/repositories/".count).dropLast("/installation".count))
    }

    private static func isAboutTime(_ answer: HTTPAnswer) -> Bool {
        let said = answer.json?["message"]?.string ?? ""
        return said.hasBytes("'exp'") || said.hasBytes("'iat'")
    }

    /// `place` is the repository or its owner.
    private func refusal(_ answer: HTTPAnswer?, _ place: String) -> PluginError {
        guard let answer else { return PluginError(.internal, "\(host) named no installation") }
        let owner = place.pieces(between: "/").first ?? ""
        let said = answer.json?["message"]?.string?.displayable(limit: 200) ?? "HTTP \(answer.status)"
        let app = session.request.clientID.displayable(limit: 64)
        switch answer.status {
        case 401,
            404 where said.hasBytes("Integration not found"):
            return PluginError(
                .invalidRequest, "\(host) refuses the proof of the app \(app): \(said)",
                hint: Self.isAboutTime(answer)
                    ? "set this computer's clock" : "check the client ID, and that the key is one of the app's")
        case 404:
            return PluginError(
                .invalidRequest, "the app \(app) is not installed for \(place)",
                hint: "have an owner of \(owner) install it, and let it use the repository")
        case 301, 302, 307, 308:
            return PluginError(
                .invalidRequest, "\(host) has \(place) under another name by now", hint: "use its new URL")
        case 422:
            return PluginError(
                .invalidRequest, "\(host) gives the app \(app) no such token: \(said)",
                hint: "write the permissions that it has into the rule, such as scopes = [\"contents:read\"]")
        case 403 where said.hasBytes("suspended"):
            return PluginError(
                .invalidRequest, "\(host) refuses the app \(app): \(said)",
                hint: "have an owner of \(owner) unsuspend it, where its installed apps are listed")
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
