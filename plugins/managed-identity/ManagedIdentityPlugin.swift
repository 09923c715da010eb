import Addresses
import FoundationEssentials
import HTTP
import OAuth
package import PluginKit
import PluginOAuth
package import PluginWire
import Secrets

/// The plugin for Azure's managed identities: a machine signs in by itself at a service of its own platform.
package struct ManagedIdentityPlugin: AuthorityPlugin {
    private let environment: [String: String]
    private let root: String
    private let pace: @Sendable () -> Pace
    private let limits: Pace.Limits

    /// The name, version, protocol versions and identities.
    package var description: PluginDescription {
        PluginDescription(
            name: "managed-identity", version: Version.current, protocols: [PluginProtocol.version], flows: [],
            identities: [.managed])
    }

    /// Creates the plugin.
    ///
    /// - Parameters:
    ///   - environment: The environment with the certificate variables; platform variables come with each request.
    ///   - root: The root folder for the machine's files; empty for `/`.
    ///   - limits: The time limits.
    ///   - pace: Returns the clock.
    package init(
        environment: [String: String] = ProcessInfo.processInfo.environment, root: String = "",
        limits: Pace.Limits = .init(), pace: @escaping @Sendable () -> Pace = { .real }
    ) {
        self.environment = environment
        self.root = root
        self.limits = limits
        self.pace = pace
    }

    /// Always fails: no user signs in.
    package func authorize(
        _ request: PluginRequest, _ user: any Conversation
    ) async throws(PluginError) -> PluginResult {
        throw PluginError(.unsupported, "managed-identity signs in machines, not people")
    }

    /// Always fails: a machine simply requests a new token.
    package func renew(_ request: PluginRequest) async throws(PluginError) -> PluginResult {
        throw PluginError(.unsupported, "a machine's tokens are not renewed, but got anew")
    }

    /// Always fails: no user signs out.
    package func signOut(_ request: PluginRequest, _ user: any Conversation) async throws(PluginError) {
        throw PluginError(.unsupported, "managed-identity signs in machines, not people")
    }

    /// Gets a token from the machine's platform.
    package func authenticate(
        _ request: PluginRequest, _ host: any Conversation
    ) async throws(PluginError) -> PluginResult {
        let (limits, pace) = (limits, pace())
        return try await asking(request) { source, transport throws(IdentityError) in
            if request.identity?.isAssumed == true { _ = try await probe(source, transport, limits.probe) }
            let demand = try Demand(request)
            let run = TokenRun(source, pace: pace, limits: limits, progress: { await host.progress($0) }) {
                request, limit throws(HTTPError) in
                try await transport.send(request, within: limit)
            }
            return Self.result(try await run.token(demand), of: request)
        }
    }

    /// Checks whether the machine has a platform with a token service, without getting a token.
    ///
    /// It succeeds if a variable identifies the platform, or the metadata service answers within a second.
    package func probe(_ request: PluginRequest) async throws(PluginError) -> PluginProbe {
        let limits = limits
        return try await asking(request) { source, transport throws(IdentityError) in
            try await self.probe(source, transport, limits.probe)
        }
    }

    private func probe(
        _ source: any TokenSource, _ transport: PlatformTransport, _ limit: Duration
    ) async throws(IdentityError) -> PluginProbe {
        guard let metadata = source as? InstanceMetadataService else { return PluginProbe([.authority]) }
        let answer: HTTPAnswer
        do throws(HTTPError) {
            answer = try await transport.send(metadata.probe, within: limit)
        } catch {
            throw IdentityError.absent(from: source)
        }
        try metadata.checkProbe(answer)
        return PluginProbe([.authority], time: answer.time)
    }

    /// Detects the machine's platform, connects to it for the duration of the body, and closes the connection.
    private func asking<Value: Sendable>(
        _ request: PluginRequest,
        _ body: (any TokenSource, PlatformTransport) async throws(IdentityError) -> Value
    ) async throws(PluginError) -> Value {
        guard let identity = request.identity, identity.kind == .managed else {
            throw PluginError(.unsupported, "managed-identity serves no identities but those of machines")
        }
        let surroundings = MachineSurroundings(identity.variables, root: root)
        do throws(IdentityError) {
            let source = try Platform(of: surroundings).source(in: surroundings)
            let transport = try self.transport(for: source, request)
            return try await body(source, transport)
        } catch {
            throw error.plain
        }
    }

    private func transport(
        for source: any TokenSource, _ request: PluginRequest
    ) throws(IdentityError) -> PlatformTransport {
        var bounds = HTTPClient.Limits()
        bounds.connect = request.operation == .probe ? limits.probe : limits.connect
        do throws(NetworkSettingsError) {
            let identity: HTTPClient.ServerIdentity =
                if source.url.lowercased().hasPrefix("http:") {
                    .anyone
                } else if let pin = source.pin {
                    .pinned(pin)
                } else {
                    .trusted(try TrustAnchors(NetworkSettings(request.network, environment)))
                }
            return PlatformTransport(
                client: HTTPClient(userAgent: "lanyard/\(Version.current)", identity, limits: bounds),
                headers: [("accept", "application/json")]
                    + (request.correlationID.map { [("x-ms-client-request-id", $0)] } ?? []))
        } catch {
            let error = OAuthError(error)
            throw IdentityError(.invalidRequest, error.message, hint: error.hint)
        }
    }

    /// Converts a token to a result of the plugin protocol; the host stores such tokens as MSAL does, with no account
    /// and no authority.
    private static func result(_ token: PlatformToken, of request: PluginRequest) -> PluginResult {
        var result = PluginResult(
            accessToken: token.token, expiresIn: token.expiresIn, scopes: request.scopes, environment: "localhost",
            realm: "managed_identity", account: nil)
        result.refreshIn = token.refreshIn
        result.tokenType = token.tokenType ?? result.tokenType
        return result
    }
}
