import Addresses
internal import AnswerCache
public import Keyring
public import Model
public import PluginHost
public import Rules
internal import Secrets
public import TokenAcquisition

/// The sources of credentials once the settings have been read: the rules, the keyring, the plugins and the user.
public final class CredentialSources: Sendable {
    /// The acquirer of tokens, with the rules and plugins that it works by.
    public let acquirer: TokenAcquirer
    /// The passwords in the keyring.
    public let passwords: PasswordStore
    /// Asks the user, if somebody is there.
    public let prompter: any UserPrompter

    /// Creates the sources.
    public init(_ services: AcquisitionServices, passwords: PasswordStore, prompter: any UserPrompter) {
        acquirer = TokenAcquirer(services)
        self.passwords = passwords
        self.prompter = prompter
    }

    /// The rules and settings.
    public var configuration: Configuration { acquirer.services.configuration }
    /// The plugins, which are only looked for when one is needed; a stored password never needs them.
    public var plugins: InstalledPlugins { acquirer.services.plugins }

    private var resolver: Resolver {
        Resolver(configuration, plugins, environment: acquirer.services.environment)
    }

    /// Resolves a request to the token that it needs, as its server's challenges say; nil if it needs none.
    public func resolve(_ request: CredentialRequest) throws(EngineError) -> TokenRequest? {
        try resolve(request, bySettingsOnly: false)
    }

    /// Whether a request needs a token; looks for plugins only if the rules alone don't tell.
    func mapsToToken(_ request: CredentialRequest) throws(EngineError) -> Bool {
        try resolve(request, bySettingsOnly: true) != nil
    }

    private func resolve(_ request: CredentialRequest, bySettingsOnly: Bool) throws(EngineError) -> TokenRequest? {
        var mapped: TokenRequest?
        do throws(ResolutionError) {
            mapped = try resolver.mapping(of: request)
            guard let mapped else { return nil }
            return try bySettingsOnly ? resolver.withClient(mapped) : resolver.settled(mapped, for: request)
        } catch {
            // The plugin that knew the client may be gone.
            if let mapped, mapped.identity == nil, let gone = acquirer.orphan(mapped.authority) {
                throw .noToken(gone, mapped, place: request.place)
            }
            throw .unresolved(error)
        }
    }

    /// Decides what to do for a request; throws if the keyring can't be used.
    func decide(_ request: TokenRequest, place: String?) throws(EngineError) -> Decision {
        let decision = acquirer.decide(request)
        if let error = decision.storeError { throw .noToken(.store(error), request, place: place) }
        return decision
    }

    /// Acquires a token, asking the user if the prompter can reach them.
    ///
    /// `place` is the URL that the token is for, if any. If the keyring is locked, this tries again after the user has
    /// unlocked it. An unattended request asks nobody.
    public func token(
        for request: TokenRequest, place: String?, by decision: Decision? = nil, isUnattended: Bool = false
    ) async throws(EngineError) -> AcquiredToken {
        let prompter = isUnattended ? nil : prompter
        // With a host, this was settled when the request was resolved.
        if request.host == nil, let error = resolver.misuse(of: request) { throw .unresolved(error) }
        do throws(EngineError) {
            return try await acquire(request, place, by: decision, prompter)
        } catch {
            guard error.opensWithPassword, let prompter, await prompter.unlockKeyring(for: place) else {
                throw error
            }
            return try await acquire(request, place, by: nil, prompter)
        }
    }

    private func acquire(
        _ request: TokenRequest, _ place: String?, by decision: Decision?, _ prompter: (any UserPrompter)?
    ) async throws(EngineError) -> AcquiredToken {
        do throws(AcquisitionError) {
            let mayAsk = prompter?.mayAsk(for: place) ?? false
            return try await acquirer.token(for: request, by: decision, mayAsk: mayAsk) {
                await prompter?.user(for: place)
            }
        } catch {
            throw .noToken(error, request, place: place)
        }
    }
}

/// Reaches the user on behalf of the engine, which knows neither terminals nor windows.
public protocol UserPrompter: Sendable {
    /// Whether somebody may be there to be asked on behalf of this URL, as far as that shows at once.
    func mayAsk(for url: String?) -> Bool
    /// The user, who hears nothing of it yet; nil if nobody can be asked on behalf of this URL.
    func user(for url: String?) async -> TokenAcquirer.User?
    /// Whether the user may be asked to unlock the keyring.
    var mayAskToUnlock: Bool { get }
    /// Asks the user to unlock the keyring; false if it stays locked.
    func unlockKeyring(for url: String?) async -> Bool
}

extension Credential {
    /// A digest that identifies the secret and its fields without revealing them.
    public var mark: String {
        guard !fields.isEmpty else { return secret.fingerprint }
        let parts = fields.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.reveal())" }
        return ([secret.reveal()] + parts).joined(separator: "\0").shortDigest
    }

    /// Creates a credential from a token, or from what it was exchanged for; `issuer` is the issuer's entry in a plugin
    /// manifest.
    public init(_ token: AcquiredToken, at issuer: PluginIssuer?) {
        let username = token.account?.username ?? ""
        self.init(
            .accessToken, token.accessToken, username: username.isEmpty ? nil : username, expiresOn: token.expiresOn)
        dueOn = token.dueOn
        realm = token.realm.isEmpty ? nil : token.realm
        // An exchanged token is no longer the issuer's.
        let issuer = token.isExchanged ? nil : issuer
        basicUsername = token.basicUsername ?? issuer?.username
        takesBearer = token.basicUsername == nil && issuer?.takesBearer ?? true
        fields = token.fields
    }

    /// Creates a credential from a stored password or authorization.
    package init(_ stored: StoredPassword) {
        switch stored.proof {
        case .password(let password): self.init(.password, password, username: stored.username)
        case .authorization(let scheme, let credential):
            self.init(.authorization(scheme: scheme), credential, username: stored.username)
        }
        expiresOn = stored.expiresOn
        oauthRefreshToken = stored.oauthRefreshToken
    }

    /// The value of `expires_on` for a token without a known expiry.
    private static let never = "never"

    /// Encodes an access token and the variables that it depends on for the answer cache; nil if that isn't possible.
    func remembered(by variables: DecisiveVariables) -> [UInt8]? {
        guard kind == .accessToken else { return nil }
        var lines = Attributes()
        do throws(ProtocolError) {
            try lines.append("token", secret.reveal())
            if let username { try lines.append("username", username) }
            try lines.append("expires_on", expiresOn.map { String($0) } ?? Self.never)
            if let dueOn { try lines.append("due_on", String(dueOn)) }
            if let realm { try lines.append("realm", realm) }
            if let basicUsername { try lines.append("basic_username", basicUsername) }
            if !takesBearer { try lines.append("bearer", "0") }
            if !variables.names.isEmpty {
                for name in variables.names { try lines.append("variable[]", name) }
                try lines.append("variables", variables.digest)
            }
            try lines.append(fields: fields)
        } catch {
            return nil
        }
        return lines.encoded
    }

    /// Decodes a remembered token; nil if the bytes are something else, or a variable that it depends on has changed.
    init?(remembered bytes: [UInt8], in environment: [String: String]) {
        var parser = AttributeParser(longestInput: bytes.count)
        guard (try? parser.consume(bytes).isEmpty) == true, let lines = try? parser.finish(),
            let token = lines["token"], let end = lines["expires_on"], let fields = lines.fields
        else { return nil }
        let expiresOn = Int(end)
        guard expiresOn != nil || end == Self.never else { return nil }
        if let digest = lines["variables"] {
            let variables = DecisiveVariables(Set(lines.list("variable[]")), in: environment)
            guard variables.digest.isSame(as: digest) else { return nil }
        }
        self.init(.accessToken, Secret(token), username: lines["username"], expiresOn: expiresOn)
        dueOn = lines["due_on"].flatMap { Int($0) }
        realm = lines["realm"]
        basicUsername = lines["basic_username"]
        takesBearer = lines["bearer"] == nil
        self.fields = fields
    }
}

extension StoredPassword {
    /// Converts a tool's credential for storing; nil for an access token, which the engine stores itself.
    init?(_ credential: Credential) {
        switch credential.kind {
        case .accessToken: return nil
        case .password: self.init(username: credential.username, proof: .password(credential.secret))
        case .authorization(let scheme):
            self.init(
                username: credential.username, proof: .authorization(type: scheme, credential: credential.secret))
        }
        expiresOn = credential.expiresOn
        oauthRefreshToken = credential.oauthRefreshToken
    }
}
