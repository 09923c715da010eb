import Addresses
public import Keyring
import Model
import PluginHost
import PluginWire
import Rules
import Secrets

/// Gets the tokens of applications and machines: nobody signs in, and there is no account.
struct IdentityTokens: Serviced {
    let services: AcquisitionServices

    /// Decides for an identity by what is stored: hand out its token or the result of an exchange, or ask the plugin.
    ///
    /// `known` is what was read from the keyring earlier; nil to read it now.
    func decide(
        _ request: TokenRequest, at authority: AuthorityMatch, among known: StoredRecords? = nil
    ) -> Decision {
        var decision = Decision(step: .authenticate)
        decision.match = authority
        if known == nil { tell(.usingKeyring) }
        let records = identityRecords.records(for: request, at: authority.key, among: known)
        if records.hasDamaged { tell(.skippingDamaged) }
        let selection = SilentSelection(
            records: records, place: authority.key, account: nil, request: request, timing: services.timing,
            now: clock())
        decision.accessToken = selection.freshToken ?? selection.lastResort
        if let token = selection.freshToken, !selection.shouldRenew(token) {
            var acquired = AcquiredToken(token, account: nil, source: .cache)
            acquired.dueOn = selection.dueOn(token)
            decision.step = .answer(acquired)
        }
        if request.exchange != nil { decision.exchange(selection) }
        return decision
    }

    /// Acquires a token as an identity: a stored one, or a new one from the plugin.
    ///
    /// One process at a time asks, and those that waited find its result. If that fails or takes long, the stored token
    /// is handed out if it is still valid.
    func authenticated(
        _ run: AcquisitionRun, stored: AccessTokenRecord?
    ) async throws(AcquisitionError) -> AcquiredToken {
        let (request, authority) = (run.request, run.authority)
        func isValid(_ token: AccessTokenRecord) -> Bool { request.claims == nil && token.lives(after: clock()) }
        do throws(AcquisitionError) {
            return try await locks.exclusively(
                lock(ofTokenFor: request, authority.key), for: .authentication, isRequired: !locks.waits,
                hasSubstitute: stored.map(isValid) ?? false
            ) { () async throws(AcquisitionError) in
                if case .answer(let token) = self.decide(request, at: authority).step { return token }
                return try await self.authenticate(request, authority, since: run.began)
            }
        } catch {
            guard let token = decide(request, at: authority).accessToken, isValid(token) else { throw error }
            return AcquiredToken(token, account: nil, source: .cache)
        }
    }

    /// Acquires a new token as an identity, whatever is stored, and stores it.
    func authenticatedAnew(
        _ request: TokenRequest, at authority: AuthorityMatch
    ) async throws(AcquisitionError) -> AcquiredToken {
        try await locks.exclusively(
            lock(ofTokenFor: request.withoutExchange, authority.key), for: .authentication, isRequired: !locks.waits
        ) { () async throws(AcquisitionError) in
            try await self.authenticate(request, authority, since: self.recentErrors.now)
        }
    }

    /// Has the plugin acquire a token, unless that failed while this process waited, and stores it.
    private func authenticate(
        _ request: TokenRequest, _ authority: AuthorityMatch, since asked: Int
    ) async throws(AcquisitionError) -> AcquiredToken {
        let name = authority.plugin.name
        let ask = try authentication(for: request, authority)
        let key = RecentErrors.Key(
            request, authority.key, account: nil, variables: ask.identity?.variables ?? [])
        if let failure = recentErrors.failure(key, since: asked) { throw .plugin(failure, name: name) }
        tell(.authenticating(request.authority))
        var result: PluginResult
        do throws(PluginError) {
            result = try await runner.authenticate(
                ask, by: authority.plugin, at: authority.isMachine ? nil : authority)
            // A plugin doesn't know where the tokens that it finds on this machine are filed.
            if authority.isMachine { result.realm = authority.realm }
        } catch {
            throw .plugin(recentErrors.noted(error, key), name: name)
        }
        recentErrors.forget(key)
        var made = RecordsOfResult(
            result: result, request: request, place: authority.key, redeemed: nil, now: clock())
        made.plugin = authority.plugin.origin
        identityRecords.keep(.accessToken(made.accessToken), for: request.withoutExchange, at: authority.key)
        return AcquiredToken(made.accessToken, account: nil, source: .authenticated)
    }

    /// Creates the plugin's request, with the identity and its proof.
    func authentication(
        for request: TokenRequest, _ authority: AuthorityMatch
    ) throws(AcquisitionError) -> PluginRequest {
        guard let identity = request.identity else { throw .unknownAuthority(request.authority) }
        var ask = requests.make(.authenticate, at: request.authority, authority)
        ask.scopes = request.scopes
        ask.resources = request.resourceIndicators
        ask.claims = request.claims
        ask.capabilities = [.claimsChallenge]
        var names = authority.plugin.variables
        switch identity.source {
        case .machine(let id, _):
            ask.identify(machine: id)
            ask.identity?.isAssumed = identity.isAssumed
            ask.accessToken = refused(request, at: authority)
        case .application(let application):
            ask.clientID = application.clientID
            ask.identity = PluginIdentity(.client)
            ask.identity?.audience = application.audience
            try prove(identity, application.proof, in: &ask, authority.key, &names)
        case .environment: throw .unknownAuthority(request.authority)
        }
        ask.identity?.variables = try fields(names)
        return ask
    }

    /// Returns the stored token that lacks the requested claims: the platform may cache it, too, and must not return it
    /// again.
    private func refused(_ request: TokenRequest, at authority: AuthorityMatch) -> Secret? {
        guard request.claims != nil else { return nil }
        var request = request
        request.claims = nil
        return decide(request, at: authority).accessToken.flatMap {
            $0.plugin == authority.plugin.origin ? $0.secret : nil
        }
    }

    /// Returns the variables with these names that are set.
    func fields(_ names: [String]) throws(AcquisitionError) -> [PluginField] {
        var fields: [PluginField] = []
        for name in names {
            if let value = try value(of: name) { fields.append(PluginField(name, value)) }
        }
        return fields
    }

    /// Returns a variable's value; nil if there is none.
    ///
    /// A line break at the end is what is left of a file that became a variable.
    private func value(of name: String) throws(AcquisitionError) -> Secret? {
        guard let text = services.environment[name].map({ String($0.trimmed(of: "\r\n\t")) }), !text.isEmpty else {
            return nil
        }
        guard text.utf8.count <= 32_768,
            !text.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) })
        else { throw .badVariable(name) }
        return Secret(text)
    }

    private func prove(
        _ identity: Identity, _ proof: Identity.Proof, in ask: inout PluginRequest, _ place: AuthorityKey,
        _ names: inout [String]
    ) throws(AcquisitionError) {
        let owner = ClientSecretStore.Owner(ask.clientID, at: place)
        switch proof {
        case .secret(let keeper):
            ask.clientSecret = try secret(kept: keeper, of: owner, identity)
        case .certificate(let path, let keeper):
            ask.identity?.certificate = path
            if let keeper {
                ask.identity?.certificatePassword = try secret(kept: keeper, of: owner.ofCertificate, identity)
            }
        case .assertion(let source):
            ask.identity?.assertion = source
            if let name = Identity.variable(ofAssertion: source) { names.append(name) }
        case .subject(let source, let keeper):
            ask.identity?.subject = source
            if let name = Identity.variable(ofAssertion: source) { names.append(name) }
            if let keeper { ask.clientSecret = try secret(kept: keeper, of: owner, identity) }
        }
    }

    private func secret(
        kept keeper: Identity.Keeper, of owner: ClientSecretStore.Owner, _ identity: Identity
    ) throws(AcquisitionError) -> Secret {
        switch keeper {
        case .variable(let name):
            guard let secret = try value(of: name) else { throw .noIdentitySecret(identity, variable: name) }
            return secret
        case .keyring:
            let kept = try storing { () throws(KeyringError) in try services.clientSecrets?.secret(of: owner) }
            guard let kept else { throw .noIdentitySecret(identity, variable: nil) }
            return kept.secret
        }
    }

    /// Returns the lock of an identity's token; the plugin delays only the processes that need the same token.
    private func lock(ofTokenFor request: TokenRequest, _ place: AuthorityKey) -> String {
        (["identity"] + request.owner(at: place)).joined(separator: "\n")
    }
}

extension PluginRequest {
    /// Adds a machine's identity, which has neither an authority nor a client.
    mutating func identify(machine id: String, variables: [PluginField] = []) {
        (authority, clientID) = ("", "")
        identity = PluginIdentity(.managed)
        identity?.managedID = id
        identity?.variables = variables
    }
}

extension ClientSecretStore.Owner {
    /// The password of the client's certificate, which is stored beside its secret.
    public var ofCertificate: Self {
        Self(environment: environment, realm: realm, clientID: "\(clientID) certificate")
    }
}

/// The tokens of applications and machines, and what they were exchanged for.
///
/// They are in the keyring or, if it is absent, locked or fails, among the remembered answers. Most machines that identities work on have
/// no keyring, and a token can be acquired again. So it is no error here if the keyring can't be used, and nobody is asked to unlock
/// it. If neither keeps a token, each process acquires its own.
struct IdentityRecords: Sendable {
    /// The keyring, which never asks the user.
    let keyring: RecordStore
    /// What is used without a keyring; nil for nothing.
    let remembered: RememberedTokens?
    let clock: @Sendable () -> Int

    /// Returns what is stored at a place, and what is remembered for the request and for the token that it exchanges.
    ///
    /// `known` is what was read from the keyring earlier; nil to read it now.
    func records(
        for request: TokenRequest, at place: AuthorityKey, among known: StoredRecords? = nil
    ) -> StoredRecords {
        var records = known ?? inKeyring(place)
        for needed in request.exchange == nil ? [request] : [request, request.withoutExchange] {
            if let record = remembered?.record(of: needed.owner(at: place), now: clock()) { records.append(record) }
        }
        return records
    }

    /// Stores a token or the result of an exchange.
    func keep(_ record: CredentialRecord, for request: TokenRequest, at place: AuthorityKey) {
        do throws(KeyringError) {
            try keyring.save([record])
        } catch {
            remembered?.keep(record, of: request.owner(at: place), now: clock())
        }
    }

    /// Forgets the remembered token, or the remembered result of an exchange, if it has one of these fingerprints.
    ///
    /// - Returns: Whether it had.
    func forget(_ fingerprints: Set<String>, for request: TokenRequest, at place: AuthorityKey) -> Bool {
        let owners = [request, request.withoutExchange].map { $0.owner(at: place) }.filter { owner in
            var records = StoredRecords()
            if let record = remembered?.record(of: owner, now: clock()) { records.append(record) }
            return records.hasToken(fingerprints)
        }
        for owner in owners { remembered?.forget(owner) }
        return !owners.isEmpty
    }

    /// Returns every record in the keyring; nil if it can't be used.
    func all() -> StoredRecords? { try? keyring.records(matching: .all) }

    private func inKeyring(_ place: AuthorityKey) -> StoredRecords {
        (try? keyring.records(matching: RecordQuery(environments: place.aliases))) ?? StoredRecords()
    }
}

extension TokenRequest {
    /// The owner and purpose of an identity's token at a place, or of the result of its exchange.
    func owner(at place: AuthorityKey) -> [String] {
        let token = [
            place.environment, place.realm, clientID.clientKey,
            scopes.map { $0.lowercased() }.sorted().joined(separator: " "), resourceKey ?? "",
        ]
        return token + (exchange.map { [$0.name, $0.audience.lowercased(), $0.path] } ?? [])
    }
}
