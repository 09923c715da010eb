import FoundationEssentials
import JSON
import Synchronization

/// The shared state of all handlers: users, issued tokens and injected faults.
final class World: Sendable {
    /// What a host does with the scope `offline_access`.
    enum OfflineAccess: Int, Sendable { case ignored, granted, refused }

    /// The settings that tests may change while the sandbox runs.
    struct Settings: Sendable {
        var accessTokenLifetime = 3600
        var refreshIn: Int?
        var deviceCodeInterval = 5
        /// The lifetime of device codes; 0 turns them off, as in Azure AD B2C.
        var deviceCodeLifetime = 900
        /// Whether refresh tokens are single-use; using one again revokes all tokens of its sign-in (RFC 9700, 4.14.2).
        var hasSingleUseRefreshTokens = false
        /// Whether a renewal returns an ID token, too, which is optional (OpenID Connect Core 1.0, 12.2).
        var sendsIDTokenAtRenewal = true
        /// Whether a renewal revokes the previous access token at the issuer and at Gitea, as in GitLab; the forge
        /// always does.
        var renewalEndsAccessToken = false
        /// Whether programs may register themselves at the issuer.
        var offersRegistration = true
        /// What the forge does with the scope `offline_access`; an older GitHub Enterprise Server ignores it.
        var offlineAccess = OfflineAccess.granted
        /// Whether the applications' secrets have expired.
        var hasExpiredSecrets = false
        /// The lifetime of the registry's refresh tokens, in seconds.
        var registryTokenLifetime = 10_800
        /// The lifetime of a machine's tokens, in seconds.
        var machineTokenLifetime = 86_400
        /// The greatest number of elements on a page of the lists of IAM Identity Center's portal.
        var pageSize = 100
        /// The lifetime of temporary keys, in seconds.
        var keyLifetime = 3600
    }

    let home: Home
    let directory: Directory
    let key: SigningKey
    let ledger = Ledger<SignInRequest>()
    let applicationCertificate: ApplicationCertificate
    /// The identifiers of received assertions: each can be used once (RFC 7523, 3).
    let assertions = Mutex<Set<String>>([])
    /// The token that a job of the sandbox's CI service sends for assertions.
    let workloadRequestToken = newSecret()
    let issuer = CodeHost(.issuer, .issuer)
    let forge = CodeHost(.forge, .forge)
    let gitea = CodeHost(.gitea, .gitea)
    let forgejo = CodeHost(.forgejo, .gitea)
    /// The code hosts.
    var hosts: [CodeHost] { [issuer, forge, gitea, forgejo] }
    /// AWS's IAM Identity Center.
    let identityCenter = IdentityCenter.State()
    /// Google Cloud.
    let google = GoogleCloud.State()
    /// The passwords of AWS's registries and repositories, with the service that gave them and the keys that they were got with.
    let passwords = Mutex<[String: (service: String, keys: SecurityTokenService.Keys)]>([:])
    /// The issued temporary keys, by their identifiers.
    let keys = Mutex<[String: SecurityTokenService.Keys]>([:])
    /// The ends of the sessions at the instance metadata service of AWS's machines.
    let metadataSessions = Mutex<[String: Int64]>([:])
    let faults = Faults()
    let log: RequestLog
    let git: GitBackend
    let controlToken = newSecret()
    /// The secret that App Service gives its programs to prove their identity.
    let identityHeader = newSecret()
    /// The keys that the agent of Azure Arc has written.
    let arcKeys: ArcKeys
    private let ports = Mutex((authority: 0, resource: 0, exchanges: 0, machine: 0, registry: 0))
    private let current = Mutex(Settings())

    init(home: Home, directory: Directory, trust: Trust) throws {
        self.home = home
        self.directory = directory
        key = trust.key
        applicationCertificate = trust.applicationCertificate
        git = GitBackend(home: home)
        log = try RequestLog(file: home.logFile)
        arcKeys = try ArcKeys(folder: home.arcKeys)
    }

    var settings: Settings { current.withLock { $0 } }
    func change(_ body: (inout Settings) -> Void) { current.withLock { body(&$0) } }

    var authority: String { "https://localhost:\(ports.withLock(\.authority))" }
    var resource: String { "https://localhost:\(ports.withLock(\.resource))" }
    /// The URL of the services that exchange tokens for credentials of their own.
    var exchanges: String { "https://localhost:\(ports.withLock(\.exchanges))" }
    /// The URL of the issuer's container registry, which is at an address of its own, as GitLab's are.
    var registry: String { "https://localhost:\(ports.withLock(\.registry))" }
    /// The URL of the token service for machines in Azure, without TLS as in reality.
    var machine: String { "http://127.0.0.1:\(ports.withLock(\.machine))" }
    func setAuthority(port: Int) { ports.withLock { $0.authority = port } }
    func setResource(port: Int) { ports.withLock { $0.resource = port } }
    func setExchanges(port: Int) { ports.withLock { $0.exchanges = port } }
    func setRegistry(port: Int) { ports.withLock { $0.registry = port } }
    func setMachine(port: Int) { ports.withLock { $0.machine = port } }

    /// Returns the claims of one of the issuer's ID tokens, for services that trust it as they would any identity provider; nil
    /// for another token, or one that has ended.
    func idToken(_ token: String) async -> Claims? {
        guard let claims = await key.verify(token), claims["iss"]?.string == issuer.url,
            claims["aud"]?.string.flatMap(issuer.client) != nil, let end = claims["exp"]?.integer, end > Date.now.unix
        else { return nil }
        return claims
    }

    /// Returns the issuer of an organization's or B2C tenant's tokens; those of B2C end with a slash, as in reality.
    func issuer(of tenant: Tenant) -> String {
        "\(authority)/\(tenant.id)/v2.0" + (tenant.kind == .b2c ? "/" : "")
    }
}
