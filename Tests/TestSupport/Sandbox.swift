import Foundation

/// A running sandbox and its control interface.
package final class Sandbox: Sendable {
    /// One request that it served.
    package struct Request: Decodable, Sendable, CustomStringConvertible {
        /// `GET` or `POST`.
        package let method: String
        /// `authority`, `resource`, `issuer`, `forge`, `gitea`, `exchanges` or `machine`.
        package let host: String
        /// The URL's path.
        package let path: String
        /// The answer's status.
        package let status: Int
        /// What the form asks for a token by, if it does.
        package let grantType: String?
        /// How the request proved who sent it, such as `Bearer`.
        package let authorization: String?
        /// Who asked, as far as the request proved that.
        package let user: String?
        /// The URL's query.
        package let query: [String: String]?
        /// The form, without its secrets.
        package let form: [String: String]?
        /// The headers that a machine's platform looks at, without secrets.
        package let headers: [String: String]?

        package var description: String { "\(method) \(host) \(path) \(grantType ?? "") \(status)" }

        enum CodingKeys: String, CodingKey {
            case method, host, path, status, user, query, form, headers, authorization
            case grantType = "grant_type"
        }
    }

    /// The folder with all that the sandbox makes.
    package let folder: String
    private let description: SandboxDescription

    /// The password of every user.
    package static let password = "lanyard"

    /// Starts a sandbox in a folder and waits until it serves; `people` changes the users file that it begins with.
    package init(folder: String, people: ((String) -> String)? = nil) async throws {
        if let people {
            // The first one writes the file, the second reads what has become of it.
            _ = try await SandboxPool.start(in: folder)
            try await SandboxPool.stop(in: folder)
            let file = folder + "/users.toml"
            let text = try String(contentsOfFile: file, encoding: .utf8)
            try people(text).write(toFile: file, atomically: true, encoding: .utf8)
        }
        description = try await SandboxPool.start(in: folder)
        self.folder = folder
    }

    /// Closes its ports.
    package func stop() async {
        try? await SandboxPool.stop(in: folder)
    }

    /// The authority's URL.
    package var authority: String { description.authority }
    /// The URL of the resources.
    package var resource: String { description.resource }
    /// The URL of the registry.
    package var exchanges: String { description.exchanges }
    /// The certificate to trust.
    package var caFile: String { description.caFile }
    /// The application of workforce tenants.
    package var clientID: String { description.clientID }
    /// The application of the B2C tenant.
    package var b2cClientID: String { description.b2cClientID }

    /// The application that signs in without a person.
    package var application: SandboxDescription.Application { description.application }

    /// What gives machines in Azure their tokens.
    package var machine: SandboxDescription.Machine { description.machine }

    /// The plain OpenID Connect issuer.
    package var issuer: SandboxDescription.Host { description.issuer }
    /// The host that works as GitHub does.
    package var forge: SandboxDescription.Host { description.forge }
    /// The host that works as Gitea does.
    package var gitea: SandboxDescription.Host { description.gitea }

    /// `host:port` of the resources.
    package var resourceHost: String { String(resource.dropFirst("https://".count)) }

    /// What was asked of the authority since the log was last cleared, less the control interface's own requests.
    package func authorityRequests() async throws -> [Request] {
        try await requests().filter { $0.host == "authority" && !$0.path.hasPrefix("/_sandbox") }
    }

    /// What was asked of the machine's platform since the log was last cleared.
    package func machineRequests() async throws -> [Request] { try await requests().filter { $0.host == "machine" } }

    /// Everything that was asked since the log was last cleared.
    package func requests() async throws -> [Request] {
        try JSONDecoder().decode([Request].self, from: Data(try await control("GET", "log").utf8))
    }

    /// Forgets the requests so far.
    package func clearLog() async throws { _ = try await control("DELETE", "log") }
    /// Changes settings, a JSON object.
    package func set(_ settings: String) async throws { _ = try await control("POST", "settings", settings) }
    /// Plans something that goes wrong.
    package func fault(_ fault: String) async throws { _ = try await control("POST", "faults", fault) }
    /// Waits until a request is kept waiting by a fault with `hold`; it goes on when the faults are cleared.
    ///
    /// - Throws: `SandboxError.nothingHeld` after two minutes.
    package func untilHeld() async throws {
        let end = ContinuousClock.now + .seconds(120)
        while try await control("GET", "faults") == #"{"held":0}"# {
            guard ContinuousClock.now < end else { throw SandboxError.nothingHeld }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
    /// Lets everything go right again.
    package func clearFaults() async throws { _ = try await control("DELETE", "faults") }
    /// Makes refresh tokens and sessions invalid: all, or those of a user.
    package func revoke(_ what: String = "{}") async throws { _ = try await control("POST", "revoke", what) }

    /// An assertion as a job of the sandbox's issuer has it.
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
        let ended = try await run("/usr/bin/curl", arguments, environment: ["PATH": "/usr/bin:/bin"])
        guard ended.status == 0 else { throw SandboxError.control(ended.errors) }
        return ended.output
    }
}

/// What a sandbox didn't do.
package enum SandboxError: Error {
    /// The control interface refused something.
    case control(String)
    /// No request came that a fault was to keep waiting.
    case nothingHeld
}

extension [Sandbox.Request] {
    /// What the sign-in pages were asked for, one by one.
    package var signIns: [[String: String]] {
        filter { $0.method == "GET" && $0.path.hasSuffix("/authorize") }.map { $0.query ?? [:] }
    }

    /// The paths that refresh tokens were redeemed at.
    package var renewals: [String] { filter { $0.grantType == "refresh_token" }.map(\.path) }

    /// How often a grant was asked for.
    package func count(grant: String) -> Int { count { $0.grantType == grant } }
}
