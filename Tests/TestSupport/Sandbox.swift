import Foundation

/// A running sandbox and its control API.
package final class Sandbox: Sendable {
    /// A logged request.
    package struct Request: Decodable, Sendable, CustomStringConvertible {
        /// `GET` or `POST`.
        package let method: String
        /// `authority`, `resource`, `issuer`, `forge`, `gitea`, `forgejo`, `exchanges` or `machine`.
        package let host: String
        /// The URL's path.
        package let path: String
        /// The answer's status.
        package let status: Int
        /// The form's grant type; nil if there is none.
        package let grantType: String?
        /// The authentication scheme of the request, such as `Bearer`; nil if there was none.
        package let authorization: String?
        /// The user of the request, if it was authenticated.
        package let user: String?
        /// The URL's query.
        package let query: [String: String]?
        /// The form, without its secrets.
        package let form: [String: String]?
        /// The headers that a machine's platform checks, without secrets.
        package let headers: [String: String]?

        package var description: String { "\(method) \(host) \(path) \(grantType ?? "") \(status)" }

        enum CodingKeys: String, CodingKey {
            case method, host, path, status, user, query, form, headers, authorization
            case grantType = "grant_type"
        }
    }

    /// The sandbox's folder.
    package let folder: String
    private let description: SandboxDescription

    /// The password of every user.
    package static let password = "lanyard"

    /// Starts a sandbox in a folder and waits until it is ready; `people` changes its initial users file.
    package init(folder: String, people: ((String) -> String)? = nil) async throws {
        if let people {
            // The first sandbox writes the file, and the second reads the changed one.
            _ = try await SandboxPool.start(in: folder)
            try await SandboxPool.stop(in: folder)
            let file = folder + "/users.toml"
            let text = try String(contentsOfFile: file, encoding: .utf8)
            try people(text).write(toFile: file, atomically: true, encoding: .utf8)
        }
        description = try await SandboxPool.start(in: folder)
        self.folder = folder
    }

    /// Stops the sandbox, which closes its ports.
    package func stop() async {
        try? await SandboxPool.stop(in: folder)
    }

    /// The authority's URL.
    package var authority: String { description.authority }
    /// The URL of the resources.
    package var resource: String { description.resource }
    /// The URL of the registry.
    package var exchanges: String { description.exchanges }
    /// The folder of files with credentials for Google Cloud.
    package var google: String { description.google }
    /// The certificate to trust.
    package var caFile: String { description.caFile }
    /// The client ID for workforce tenants.
    package var clientID: String { description.clientID }
    /// The client ID for the B2C tenant.
    package var b2cClientID: String { description.b2cClientID }

    /// The application that signs in without a user.
    package var application: SandboxDescription.Application { description.application }

    /// The platforms with managed identities.
    package var machine: SandboxDescription.Machine { description.machine }

    /// The standard OpenID Connect issuer.
    package var issuer: SandboxDescription.Host { description.issuer }
    /// The URL of the images of the host that behaves like GitLab.
    package var registry: String { description.registry }
    /// The host that behaves like GitHub.
    package var forge: SandboxDescription.Host { description.forge }
    /// The host that behaves like Gitea.
    package var gitea: SandboxDescription.Host { description.gitea }
    /// The host that behaves like Forgejo.
    package var forgejo: SandboxDescription.Host { description.forgejo }

    /// `host:port` of the resources.
    package var resourceHost: String { String(resource.dropFirst("https://".count)) }

    /// Returns the requests to the authority since the log was last cleared, except for those of the control API.
    package func authorityRequests() async throws -> [Request] {
        try await requests().filter { $0.host == "authority" && !$0.path.hasPrefix("/_sandbox") }
    }

    /// Returns the requests to the machine's platform since the log was last cleared.
    package func machineRequests() async throws -> [Request] { try await requests().filter { $0.host == "machine" } }

    /// Returns all requests since the log was last cleared.
    package func requests() async throws -> [Request] {
        try JSONDecoder().decode([Request].self, from: Data(try await control("GET", "log").utf8))
    }

    /// Clears the log.
    package func clearLog() async throws { _ = try await control("DELETE", "log") }
    /// Changes settings, given as a JSON object.
    package func set(_ settings: String) async throws { _ = try await control("POST", "settings", settings) }
    /// Injects a fault, given as a JSON object.
    package func fault(_ fault: String) async throws { _ = try await control("POST", "faults", fault) }
    /// Waits until a fault with `hold` holds a request; the request continues when the faults are cleared.
    ///
    /// - Throws: `SandboxError.nothingHeld` after two minutes.
    package func untilHeld() async throws {
        let end = ContinuousClock.now + .seconds(120)
        while try await control("GET", "faults") == #"{"held":0}"# {
            guard ContinuousClock.now < end else { throw SandboxError.nothingHeld }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
    /// Clears all faults.
    package func clearFaults() async throws { _ = try await control("DELETE", "faults") }
    /// Revokes refresh tokens and sessions: all, or those of a user.
    package func revoke(_ what: String = "{}") async throws { _ = try await control("POST", "revoke", what) }

    /// Returns an assertion for a job of the sandbox's issuer.
    package func assertion() async throws -> String {
        let answer = try await control("POST", "assertion")
        return answer.split(separator: "\"").map(String.init).first { $0.hasPrefix("ey") } ?? ""
    }

    private func control(_ method: String, _ name: String, _ body: String? = nil) async throws -> String {
        var arguments = [
            "--silent", "--show-error", "--fail", "--max-time", "20", "--cacert", caFile, "--request", method,
            "--header", "X-Sandbox-Control: \(description.controlToken)", "\(authority)/_sandbox/\(name)",
        ]
        if let body { arguments += ["--header", "Content-Type: application/json", "--data-binary", body] }
        let ended = try await run("/usr/bin/curl", arguments, environment: ["PATH": Programs.folder])
        guard ended.status == 0 else { throw SandboxError.control(ended.errors) }
        return ended.output
    }
}

/// A failure of the sandbox.
package enum SandboxError: Error {
    /// The control API refused a request.
    case control(String)
    /// No request arrived for a fault with `hold`.
    case nothingHeld
}

extension [Sandbox.Request] {
    /// The parameters of each request for a sign-in page.
    package var signIns: [[String: String]] {
        filter { $0.method == "GET" && $0.path.hasSuffix("/authorize") }.map { $0.query ?? [:] }
    }

    /// The paths of all requests that redeemed a refresh token.
    package var renewals: [String] { filter { $0.grantType == "refresh_token" }.map(\.path) }

    /// Returns how often a grant was requested.
    package func count(grant: String) -> Int { count { $0.grantType == grant } }
}
