import Synchronization

/// What every handler works on: who exists, what was issued, what the tests want to go wrong.
final class World: Sendable {
    /// What tests may change while the sandbox runs.
    struct Settings: Sendable {
        var accessTokenLifetime = 3600
        var refreshIn: Int?
        var deviceCodeInterval = 5
        /// With 0 there are no device codes, as at Azure AD B2C.
        var deviceCodeLifetime = 900
        /// Whether a refresh token is good once; used again, all that came of its sign-in is revoked (RFC 9700, 4.14.2).
        var hasSingleUseRefreshTokens = false
        /// Whether a renewal brings an ID token too; it need not (OpenID Connect Core 1.0, 12.2).
        var sendsIDTokenAtRenewal = true
        /// Whether a renewal ends the access token before it at the issuer and at Gitea, as GitLab's do; the forge's always do.
        var renewalEndsAccessToken = false
        /// Whether programs may register themselves at the issuer.
        var offersRegistration = true
        /// Whether the secrets of applications have expired.
        var hasExpiredSecrets = false
        /// Seconds that the registry's refresh tokens live.
        var registryTokenLifetime = 10_800
        /// Seconds that a machine's tokens live.
        var machineTokenLifetime = 86_400
        /// Seconds that temporary keys live.
        var keyLifetime = 3600
    }

    let home: Home
    let directory: Directory
    let key: SigningKey
    let ledger = Ledger()
    let applicationCertificate: ApplicationCertificate
    let assertions = UsedAssertions()
    /// What a job of the sandbox's CI service asks for assertions with.
    let workloadRequestToken = newSecret()
    let issuer = CodeHost(.issuer)
    let forge = CodeHost(.forge)
    let gitea = CodeHost(.gitea)
    /// Those three.
    var hosts: [CodeHost] { [issuer, forge, gitea] }
    /// The temporary keys that were given out, by their identifiers.
    let keys = Mutex<[String: TokenService.Keys]>([:])
    let faults = Faults()
    let log: RequestLog
    let repositories: Repositories
    let controlToken = newSecret()
    /// What App Service gives its programs to prove that they are its own.
    let identityHeader = newSecret()
    /// The keys that the agent of Azure Arc has written.
    let arcKeys: ArcKeys
    private let ports = Mutex((authority: 0, resource: 0, exchanges: 0, machine: 0))
    private let current = Mutex(Settings())

    init(home: Home, directory: Directory, trust: Trust) throws {
        self.home = home
        self.directory = directory
        key = trust.key
        applicationCertificate = trust.applicationCertificate
        repositories = Repositories(home: home)
        log = try RequestLog(file: home.logFile)
        arcKeys = try ArcKeys(folder: home.arcKeys)
    }

    var settings: Settings { current.withLock { $0 } }
    func change(_ body: (inout Settings) -> Void) { current.withLock { body(&$0) } }

    var authority: String { "https://localhost:\(ports.withLock(\.authority))" }
    var resource: String { "https://localhost:\(ports.withLock(\.resource))" }
    /// What takes tokens only in exchange for its own.
    var exchanges: String { "https://localhost:\(ports.withLock(\.exchanges))" }
    /// What gives machines in Azure their tokens, without TLS as there.
    var machine: String { "http://127.0.0.1:\(ports.withLock(\.machine))" }
    func setAuthority(port: Int) { ports.withLock { $0.authority = port } }
    func setResource(port: Int) { ports.withLock { $0.resource = port } }
    func setExchanges(port: Int) { ports.withLock { $0.exchanges = port } }
    func setMachine(port: Int) { ports.withLock { $0.machine = port } }

    /// The issuer of an organization's tokens, or of a B2C tenant's: those end with a slash, as real ones do.
    func issuer(of tenant: Tenant) -> String {
        "\(authority)/\(tenant.id)/v2.0" + (tenant.kind == .b2c ? "/" : "")
    }
}
