import Addresses
import FoundationEssentials
import OAuth
package import PluginKit
import PluginOAuth
package import PluginWire
import Secrets

/// The plugin for Google Cloud: tokens of what Google's own programs and machines leave for others to use, which are called
/// application default credentials.
package struct GooglePlugin: AuthorityPlugin {
    private let connector: AuthorityConnector
    private let root: String

    /// The name, version, protocol versions and identities.
    package var description: PluginDescription {
        PluginDescription(
            name: "google", version: Version.current, protocols: [PluginProtocol.version], flows: [],
            identities: [.managed])
    }

    /// Creates the plugin; the environment has the proxy and certificate variables, and the root is that of the machine's files.
    package init(environment: [String: String] = ProcessInfo.processInfo.environment, root: String = "") {
        connector = AuthorityConnector(environment: environment)
        self.root = root
    }

    /// Always fails: people sign in by the plugin `oauth`.
    package func authorize(
        _ request: PluginRequest, _ user: any Conversation
    ) async throws(PluginError) -> PluginResult {
        throw PluginError(.unsupported, "google finds sign-ins, and people sign in at accounts.google.com")
    }

    /// Always fails: what is found is asked for a new token.
    package func renew(_ request: PluginRequest) async throws(PluginError) -> PluginResult {
        throw PluginError(.unsupported, "tokens of application default credentials are not renewed, but got anew")
    }

    /// Always fails: nobody signed in here.
    package func signOut(_ request: PluginRequest, _ user: any Conversation) async throws(PluginError) {
        throw PluginError(.unsupported, "what google finds is signed out by the program that signed in")
    }

    /// Gets a token of the application default credentials, or of the machine's service account.
    package func authenticate(
        _ request: PluginRequest, _ host: any Conversation
    ) async throws(PluginError) -> PluginResult {
        let surroundings = try surroundings(request)
        return try await connector.connected(request) { transport throws(PluginError) in
            let services = GoogleServices(hosts: try GoogleHosts(request), transport: transport)
            let credentials = try await DefaultCredentials(surroundings, services)
            let wanted = try GoogleDemand(request)
            let token: GoogleToken
            do throws(PluginError) { token = try await credentials.token(wanted) } catch {
                guard error.error == "UNAUTHENTICATED" else { throw error }
                // Impersonation refused the token before, which is got anew, too.
                token = try await credentials.token(wanted)
            }
            var result = PluginResult(
                accessToken: token.secret, expiresIn: token.expiresIn, scopes: request.scopes,
                environment: "localhost", realm: "managed_identity", account: nil)
            result.basicUsername = "oauth2accesstoken"
            return result
        }
    }

    /// Checks whether there are any, without getting a token.
    package func probe(_ request: PluginRequest) async throws(PluginError) -> PluginProbe {
        let surroundings = try surroundings(request)
        return try await connector.connected(request) { transport throws(PluginError) in
            let services = GoogleServices(hosts: try GoogleHosts(request), transport: transport)
            var probe = PluginProbe([.authority])
            probe.summary = try await DefaultCredentials(surroundings, services).words
            return probe
        }
    }

    private func surroundings(_ request: PluginRequest) throws(PluginError) -> GoogleSurroundings {
        guard let identity = request.identity, identity.kind == .managed else {
            throw PluginError(.unsupported, "google serves no identities but those that it finds on this machine")
        }
        return GoogleSurroundings(identity: identity, root: root)
    }
}

/// Where application default credentials are looked for.
struct GoogleSurroundings: Sendable {
    let identity: PluginIdentity
    /// The root folder of the machine's files; empty for `/`.
    let root: String

    func variable(_ name: String) -> String? { identity.variable(name) }

    /// The service account that the identity names; nil for whatever there is.
    var account: String? {
        get throws(PluginError) {
            let text = identity.managedID ?? "system"
            guard !text.isSame(as: "system") else { return nil }
            guard let (kind, account) = text.cut(at: ":"), kind.isSame(as: "client-id"), account.hasBytes("@"),
                account.utf8.allSatisfy({ $0.isUnreserved || $0 == UInt8(ascii: "@") })
            else {
                throw PluginError(
                    .invalidRequest, "\(text.displayable(limit: 100)) is no service account of this machine",
                    hint: "write managed = \"client-id:NAME@PROJECT.iam.gserviceaccount.com\", or leave it out")
            }
            return String(account)
        }
    }
}

/// What a token is wanted for.
enum GoogleDemand: Sendable {
    /// An access token with these scopes.
    case access([String])
    /// An ID token for this audience: a service's URL, or the client ID of what protects it.
    case id(audience: String)

    /// The scope before an OAuth client's ID, whose ID tokens are wanted.
    private static let audienceScope = "audience:server:client_id:"

    init(_ request: PluginRequest) throws(PluginError) {
        let named = request.scopes.compactMap { scope in
            scope.hasPrefix(Self.audienceScope) ? String(scope.utf8.dropFirst(Self.audienceScope.utf8.count)) : nil
        }
        let others = request.scopes.filter { $0 != "openid" && !$0.hasPrefix(Self.audienceScope) }
        guard !named.isEmpty || request.scopes.contains("openid") else {
            guard request.resources.isEmpty else {
                throw PluginError(
                    .invalidRequest, "Google's access tokens are for scopes, and not for resources",
                    hint: "leave out resource-indicators, or write token = \"id\" for an ID token")
            }
            self = .access(others)
            return
        }
        if let other = others.first {
            throw PluginError(
                .invalidRequest, "an ID token of Google's has no scope \(other.displayable(limit: 200))",
                hint: "leave out the scope, or ask for an access token")
        }
        let audiences = named + request.resources
        guard audiences.count == 1 else {
            throw PluginError(
                .invalidRequest,
                "an ID token of Google's is for one audience, and the request names \(audiences.count)",
                hint: "write resource-indicators = [\"https://SERVICE\"], or scopes = [\"\(Self.audienceScope)ID\"]")
        }
        self = .id(audience: audiences[0])
    }
}

/// A token, and the seconds that it lives.
struct GoogleToken: Sendable {
    let secret: Secret
    let expiresIn: Int
}
