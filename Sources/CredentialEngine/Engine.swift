import Addresses
internal import AnswerCache
public import Keyring
public import Model
import PluginHost
import Rules
import Secrets
import TokenAcquisition

/// Answers tools' questions from the answer cache, from the keyring as the rules say, or by asking the authority
/// and the user.
///
/// It knows no tool's protocol, no terminal and none of the process's streams.
public struct Engine: Sendable {
    let surroundings: Surroundings
    let terms: AgentTerms
    private let reading: @Sendable () throws -> CredentialSources

    /// Creates an engine.
    ///
    /// - Parameters:
    ///   - surroundings: The parts of the process that the engine depends on.
    ///   - terms: How to ask an agent, if one is configured.
    ///   - reading: Reads the settings; a remembered answer never needs them.
    public init(
        in surroundings: Surroundings, terms: AgentTerms = .init(),
        reading: @escaping @Sendable () throws -> CredentialSources
    ) {
        self.surroundings = surroundings
        self.terms = terms
        self.reading = reading
    }

    /// Answers a question as far as possible from what is stored, or by asking an agent.
    public func reply(to question: Question) -> EngineReply {
        do throws(EngineError) {
            if let agent = surroundings.agent { return try relay(question, to: agent) }
            return switch question {
            case .get(let request): try get(request)
            case .store(let credential, let request): try store(credential, for: request)
            case .erase(let request, let refused): try erase(request, refused)
            case .list(let prefix): try list(labelled: prefix)
            }
        } catch {
            return .outcome(.refused(error))
        }
    }

    /// Answers a question from this machine's rules and keyring, or by asking the agent that the settings name.
    ///
    /// Only this function and `reply` know about agents; the work for each question is the same without one.
    func answer(
        _ question: Question, here: (CredentialSources) throws(EngineError) -> EngineReply
    ) throws(EngineError) -> EngineReply {
        let sources = try readSources()
        guard let agent = sources.configuration.agent else { return try here(sources) }
        return try relay(question, to: agent)
    }

    /// Asks an agent instead of using this machine's rules and keyring; nothing is stored on this machine.
    private func relay(_ question: Question, to agent: String) throws(EngineError) -> EngineReply {
        .outcome(try AgentClient(agent: agent, terms: terms).outcome(of: question))
    }

    /// Reads the settings that answers depend on.
    func readSources() throws(EngineError) -> CredentialSources {
        do { return try reading() } catch { throw .settings(error) }
    }

    /// Answers from what is stored, if that is enough; the remaining work comes `later`.
    func get(_ request: CredentialRequest) throws(EngineError) -> EngineReply {
        try request.requireTarget()
        let remembered = CachedCredential(request, in: surroundings)
        if let credential = remembered?.credential { return .outcome(try request.outcome(credential)) }
        let look = StoredLookup(
            request: request, remembered: remembered?.slot(),
            passwordAbsence: PasswordAbsence(request, in: surroundings),
            given: surroundings.given, now: surroundings.now)
        look.passwordAbsence.prepare()
        return try answer(.get(request)) { sources throws(EngineError) in
            do throws(EngineError) {
                return try look.reply(in: sources)
            } catch {
                guard error.opensWithPassword, sources.mayAskToUnlock(for: request) else { throw error }
                return look.onceUnlocked(in: sources, error)
            }
        }
    }

    /// Stores a password, or an authorization of another scheme, that a tool found to work.
    ///
    /// Tools also report the tokens that they were given. A token is recognised by itself, because what a tool reports need not
    /// name the URL and the user that it asked for.
    func store(_ credential: Credential, for request: CredentialRequest) throws(EngineError) -> EngineReply {
        guard let password = StoredPassword(credential), let query = PasswordQuery(request) else {
            return .outcome(.nothing)
        }
        if let expiry = credential.expiresOn, expiry <= surroundings.now { return .outcome(.nothing) }
        return try answer(.store(credential, request)) { sources throws(EngineError) in
            // If the rules answer with a token, the tool returns that token, which is stored already.
            if (try? sources.mapsToToken(request)) == true { return .outcome(.nothing) }
            // Opens the session first: the store compares with what it has, which is usually the same.
            surroundings.keyring.open()
            var isStored = !surroundings.given.contain(password.fingerprints)
            if isStored {
                do throws(KeyringError) { isStored = try sources.passwords.store(password, for: query) } catch {
                    throw .store(error)
                }
            }
            guard isStored || !terms.mustKeep else { throw .ownToken(place: request.place) }
            return .outcome(.nothing)
        }
    }

    /// Erases a credential that a tool reports as not working.
    func erase(_ request: CredentialRequest, _ refused: Question.Refused) throws(EngineError) -> EngineReply {
        var query = PasswordQuery(request)
        query?.password = refused.password
        query?.credential = refused.authorization
        // A script's own request names a token but no place.
        guard query != nil || (request.scheme == nil && request.host == nil && !request.explicit.isEmpty) else {
            return .outcome(.nothing)
        }
        do throws(EngineError) {
            return try answer(.erase(request, refused)) { sources throws(EngineError) in
                // What is looked up isn't stored.
                if (try? sources.resolve(request))??.source != nil {
                    surroundings.answers.forget()
                    return .outcome(.nothing)
                }
                // A token that is no longer stored may still be in an answer that another process is about to remember.
                if (try? sources.mapsToToken(request)) != false
                    || surroundings.given.contain(refused.fingerprints ?? [])
                {
                    surroundings.answers.forget()
                }
                try sources.erase(query, for: request, refused)
                return .outcome(.nothing)
            }
        } catch {
            if case .settings = error { surroundings.answers.forget() }
            throw error
        }
    }

    /// Lists the servers with passwords stored under labels with this prefix, and those that accept an exchanged token.
    func list(labelled prefix: String) throws(EngineError) -> EngineReply {
        try answer(.list(labelPrefix: prefix)) { sources throws(EngineError) in
            do throws(KeyringError) {
                let exchanged = try sources.exchangeHosts()
                // The rule's answer takes precedence over a stored password.
                return .outcome(.list(try sources.passwords.labelled(prefix).merging(exchanged) { $1 }))
            } catch {
                throw .store(error)
            }
        }
    }

    /// Renews the token that answered a request, ahead of time and only if it is still stored, and remembers the new one.
    ///
    /// The engine's acquirer must be one that renews ahead of time.
    ///
    /// - Parameters:
    ///   - request: The request that was answered.
    ///   - mark: The `Credential.mark` of the credential that was handed out.
    /// - Returns: Whether there is a newer credential now.
    public func renew(_ request: CredentialRequest, answeredBy mark: String) async -> Bool {
        var request = request
        request.isUnattended = true
        do throws(EngineError) {
            let sources = try readSources()
            guard let wanted = try sources.resolve(request) else { return false }
            let slot = CachedCredential(request, in: surroundings)?.slot()
            let decision = try sources.decide(wanted, place: request.place)
            if case .answer(let token) = decision.step {
                // Another process was quicker. The answer cache may still have the old token.
                guard Credential(token, at: nil).mark != mark else { return false }
                surroundings.given.note(token.accessToken)
                slot?.keep(token, at: decision.match?.issuer, for: wanted, from: sources)
                return true
            }
            guard let replaced = decision.replaced, Credential(replaced, at: nil).mark == mark else { return false }
            let token = try await sources.token(
                for: wanted, place: request.place, by: decision, isUnattended: true)
            guard Credential(token, at: nil).mark != mark else { return false }
            surroundings.given.note(token.accessToken)
            slot?.keep(token, at: decision.match?.issuer, for: wanted, from: sources, isAhead: true)
            return true
        } catch {
            return false
        }
    }
}

/// A search of the keyring for a request that has no remembered answer.
private struct StoredLookup: Sendable {
    let request: CredentialRequest
    let remembered: CachedCredential.Slot?
    let passwordAbsence: PasswordAbsence
    let given: GivenTokens
    /// Seconds since 1970.
    let now: Int

    func reply(in sources: CredentialSources) throws(EngineError) -> EngineReply {
        try dropRefused(in: sources)
        guard let wanted = try sources.resolve(request) else {
            let password = try password(in: sources)
            passwordAbsence.note(isMiss: password == nil)
            return .outcome(password.map(Outcome.credential) ?? .nothing)
        }
        let decision = try sources.decide(wanted, place: request.place)
        if case .answer(let token) = decision.step {
            return .outcome(try keep(token, for: wanted, decision.match?.issuer, in: sources))
        }
        return .waiting { () async throws(EngineError) in
            let token = try await sources.token(
                for: wanted, place: request.place, by: decision, isUnattended: request.isUnattended)
            return try keep(token, for: wanted, decision.match?.issuer, in: sources)
        }
    }

    /// Searches again once the user has unlocked the keyring; otherwise the refusal stands.
    func onceUnlocked(in sources: CredentialSources, _ refusal: EngineError) -> EngineReply {
        .waiting { () async throws(EngineError) in
            guard await sources.prompter.unlockKeyring(for: request.place) else { throw refusal }
            return switch try reply(in: sources) {
            case .outcome(let outcome): outcome
            case .later(let wait): await wait()
            }
        }
    }

    private func keep(
        _ token: AcquiredToken, for wanted: TokenRequest, _ issuer: PluginIssuer?, in sources: CredentialSources
    ) throws(EngineError) -> Outcome {
        given.note(token.accessToken)
        remembered?.keep(token, at: issuer, for: wanted, from: sources)
        return try request.outcome(Credential(token, at: issuer))
    }

    /// Drops the token that the server has just refused, as after an `erase`.
    ///
    /// If the server asks for claims, they already rule out the stored token.
    private func dropRefused(in sources: CredentialSources) throws(EngineError) {
        guard let refused = request.refusedToken else { return }
        let possible = sources.possibleTokens(for: request)
        guard possible.first?.claims == nil else { return }
        _ = try sources.reject(.these([refused]), for: possible, place: request.place)
    }

    private func password(in sources: CredentialSources) throws(EngineError) -> Credential? {
        guard let query = PasswordQuery(request) else { return nil }
        do throws(KeyringError) {
            return try sources.passwords.get(query, now: now).map(Credential.init)
        } catch {
            throw .store(error)
        }
    }
}

extension CredentialRequest {
    /// Returns the credential if the tool can use it.
    func outcome(_ credential: Credential) throws(EngineError) -> Outcome {
        guard takesFields || credential.fields.isEmpty || !credential.secret.isEmpty else {
            throw .severalParts(credential.fields.keys.sorted(), place: place)
        }
        return .credential(credential)
    }

    /// Refuses a request that names neither a place nor a token: a missing host isn't a wildcard (CVE-2020-11008).
    ///
    /// Only a certificate's file has no host; it is found by its path.
    func requireTarget() throws(EngineError) {
        if isCertificate, explicit.isEmpty { return }
        guard host == nil || scheme == nil else { return }
        guard explicit.isEmpty || host != nil || scheme != nil else { return }
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

extension CredentialSources {
    /// Drops the token that was refused, or else erases the password that the query finds.
    ///
    /// A token is recognised by itself: git reports the user name that it was given with the token, which may be that of
    /// no rule, or of another one. Without a secret, the token that the request gets is meant.
    fileprivate func erase(
        _ query: PasswordQuery?, for request: CredentialRequest, _ refused: Question.Refused
    ) throws(EngineError) {
        if let fingerprints = refused.fingerprints {
            if try reject(.these(fingerprints), for: possibleTokens(for: request), place: request.place) { return }
        } else if let wanted = resolveUnchallenged(request) {
            _ = try reject(.current, for: [wanted], place: request.place)
            return
        }
        guard let query else { return }
        let count: Int
        do throws(KeyringError) { count = try passwords.erase(query) } catch { throw .store(error) }
        if count == 0, refused.mustExist { throw .noPassword }
    }

    /// Records that a tool reports tokens as refused, or no longer wants the current one.
    ///
    /// - Returns: Whether any such token is stored.
    func reject(_ refused: RefusalScope, for wanted: [TokenRequest], place: String?) throws(EngineError) -> Bool {
        do throws(AcquisitionError) { return try acquirer.reject(refused, for: wanted) } catch {
            guard let wanted = wanted.first else {
                guard case .store(let error) = error else { return false }
                throw .store(error)
            }
            throw .noToken(error, wanted, place: place)
        }
    }

    /// Returns the tokens that a tool may have been given for a request, most likely first.
    ///
    /// The user name in the request may be the one that it was given, so those of the rules for the same place count,
    /// too.
    func possibleTokens(for request: CredentialRequest) -> [TokenRequest] {
        let named = configuration.rules.compactMap { rule -> CredentialRequest? in
            var named = request
            named.username = rule.pattern.request.username
            return named.username != nil && rule.pattern.mismatch(named, caseless: configuration.caseless) == nil
                ? named : nil
        }
        return ([request] + named).compactMap(resolveUnchallenged)
    }

    /// Resolves a request, if need be without the server's challenge; nil if it needs no token, or none that can be had.
    ///
    /// With `erase`, git passes the server's challenge to the token. The preceding `get` couldn't: there was no token
    /// yet.
    private func resolveUnchallenged(_ request: CredentialRequest) -> TokenRequest? {
        if let wanted = try? resolve(request) { return wanted }
        var unchallenged = request
        unchallenged.wwwAuthenticate = []
        return try? resolve(unchallenged)
    }

    /// Returns the hosts that accept an exchanged token, each with its user name, if it can be had without the user.
    ///
    /// A host that only a pattern covers is included once a token was exchanged for it.
    fileprivate func exchangeHosts() throws(KeyringError) -> [String: String] {
        let records = try acquirer.allRecords()
        let mapped = configuration.rules.filter { $0.pattern.scheme == "https" }.map(\.pattern.host)
        let kept = records.exchanged.filter(\.path.isEmpty).compactMap { RequestHost($0.audience) }
        var hosts: [String: String] = [:]
        for host in mapped + kept where !host.name.hasBytes("*") {
            var request = CredentialRequest()
            (request.scheme, request.host) = ("https", host)
            guard let wanted = try? resolve(request), let exchange = wanted.exchange, !exchange.isPerPath else {
                continue
            }
            let decision = acquirer.decide(wanted, among: records)
            switch next(decision, for: wanted, .none) {
            case .answer(let token) where !token.accessToken.isEmpty:
                hosts[exchange.audience] = token.basicUsername ?? ""
            case .exchange, .renew, .askBroker(isSure: true, _):
                hosts[exchange.audience] = decision.account?.username ?? ""
            case .authenticate: hosts[exchange.audience] = ""
            case .answer, .askBroker, .signIn, .choose, .unlock, .fail: continue
            }
        }
        return hosts
    }
}
