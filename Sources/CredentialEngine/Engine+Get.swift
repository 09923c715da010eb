import Addresses
import PluginHost
public import Rules
import Secrets
import TokenAcquisition
public import TokenStore

extension Engine {
    /// Answers from what is stored, if that is enough; the remaining work is a `PendingOutcome`.
    func get(_ request: CredentialRequest) throws(Refusal) -> Attempt {
        try request.requireTarget()
        let remembered = CachedCredential(request, in: surroundings)
        if let credential = remembered?.credential { return .settled(try request.outcome(credential)) }
        let look = StoredLookup(
            request: request, remembered: remembered?.place(), passwordMiss: PasswordMiss(request, in: surroundings),
            given: surroundings.given, now: surroundings.now)
        look.passwordMiss.prepare()
        return try answer(.get(request)) { sources throws(Refusal) in
            do throws(Refusal) {
                return try look.attempt(in: sources)
            } catch {
                guard error.opensWithPassword, sources.mayAskToUnlock(for: request) else { throw error }
                return .needsOthers(look.onceUnlocked(in: sources, error))
            }
        }
    }
}

/// A search of the keyring for a request that has no remembered answer.
private struct StoredLookup: Sendable {
    let request: CredentialRequest
    let remembered: CachedCredential.Place?
    let passwordMiss: PasswordMiss
    let given: GivenTokens
    /// Seconds since 1970.
    let now: Int

    func attempt(in sources: CredentialSources) throws(Refusal) -> Attempt {
        try dropRefused(in: sources)
        guard let wanted = try sources.resolve(request) else {
            let password = try password(in: sources)
            passwordMiss.note(isMiss: password == nil)
            return .settled(password.map(Outcome.credential) ?? .nothing)
        }
        let decision = try sources.decide(wanted, place: request.place)
        if case .answer(let token) = decision.step {
            return .settled(try keep(token, for: wanted, decision.match?.issuer, in: sources))
        }
        return .needsOthers(
            PendingOutcome { () async throws(Refusal) in
                let token = try await sources.token(
                    for: wanted, place: request.place, by: decision, isUnattended: request.isUnattended)
                return try keep(token, for: wanted, decision.match?.issuer, in: sources)
            })
    }

    /// Searches again once the user has unlocked the keyring; otherwise the refusal stands.
    func onceUnlocked(in sources: CredentialSources, _ refusal: Refusal) -> PendingOutcome {
        PendingOutcome { () async throws(Refusal) in
            guard await sources.prompter.unlockKeyring(for: request.place) else { throw refusal }
            return switch try attempt(in: sources) {
            case .settled(let outcome): outcome
            case .needsOthers(let pending): await pending.run()
            }
        }
    }

    private func keep(
        _ token: AcquiredToken, for wanted: TokenRequest, _ issuer: PluginIssuer?, in sources: CredentialSources
    ) throws(Refusal) -> Outcome {
        given.note(token.accessToken)
        remembered?.keep(token, at: issuer, for: wanted, from: sources)
        return try request.outcome(Credential(token, at: issuer))
    }

    /// Drops the token that the server has just refused, as after an `erase`.
    ///
    /// If the server asks for claims, they already rule out the stored token.
    private func dropRefused(in sources: CredentialSources) throws(Refusal) {
        guard let refused = request.refusedToken else { return }
        let possible = sources.possibleTokens(for: request)
        guard possible.first?.claims == nil else { return }
        _ = try sources.reject(.these([refused]), for: possible, place: request.place)
    }

    private func password(in sources: CredentialSources) throws(Refusal) -> Credential? {
        guard let query = PasswordQuery(request) else { return nil }
        do throws(StoreError) {
            return try sources.passwords.get(query, now: now).map(Credential.init)
        } catch {
            throw .store(error)
        }
    }
}

extension CredentialRequest {
    /// Returns the credential if the consumer can use it.
    func outcome(_ credential: Credential) throws(Refusal) -> Outcome {
        guard takesFields || credential.fields.isEmpty || !credential.secret.isEmpty else {
            throw .severalParts(credential.fields.keys.sorted(), place: place)
        }
        return .credential(credential)
    }

    /// Refuses a request that names neither a place nor a token: a missing host isn't a wildcard (CVE-2020-11008).
    ///
    /// Only a certificate's file has no host; it is found by its path.
    func requireTarget() throws(Refusal) {
        if isCertificate, wish.isEmpty { return }
        guard host == nil || scheme == nil else { return }
        guard wish.isEmpty || host != nil || scheme != nil else { return }
        throw .noPlace(missing: host == nil ? .host : .scheme)
    }
}

extension PasswordQuery {
    /// Converts a request to a query of the password store; nil if it names no place.
    public init?(_ request: CredentialRequest) {
        guard let scheme = request.scheme, let host = request.host?.text ?? (request.isCertificate ? "" : nil) else {
            return nil
        }
        self.init(scheme: scheme, host: host, path: request.path, username: request.username)
        acceptsAuthtype = request.takesAuthorizations
        acceptsLines = request.takesLines
        reach = request.reach
        label = request.label
    }
}
