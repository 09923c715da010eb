import Claims
import PluginHost
public import PluginWire
import Rules
import Secrets
import TokenStore

extension TokenAcquirer {
    /// An authority as its plugin's manifest and the store see it.
    struct Authority: Sendable {
        let match: AuthorityMatch
        let place: AuthorityPlace
    }

    /// An account and all that is stored to answer for it.
    public struct SilentAccount: Sendable {
        let account: AccountRecord
        let selection: SilentSelection
        let records: StoredRecords

        /// A token that can be handed out as it is; one that the authority wants renewed only where that may wait.
        func usable(renewsEarly: Bool) -> AcquiredToken? {
            guard let token = selection.freshToken, !renewsEarly || !selection.shouldRenew(token) else { return nil }
            return AcquiredToken(token, account: account, source: .cache)
        }

        /// The token that serves while the authority is down.
        var lastResort: AcquiredToken? {
            selection.lastResort.map { AcquiredToken($0, account: account, source: .cache) }
        }

        /// The token that is handed out though it was refused, if nobody can be asked.
        ///
        /// It is due, so that the answer isn't remembered: the next request may come with somebody to ask.
        var refusedToken: AcquiredToken? {
            guard var token = selection.refusedToken else { return nil }
            token.refreshOn = token.cachedAt
            return AcquiredToken(token, account: account, source: .cache)
        }

        /// The request with the claims that a server missed in what was stored for it.
        func heeding(_ request: TokenRequest) -> TokenRequest {
            var request = request
            request.claims = request.claims ?? selection.missedClaims
            return request
        }

        /// The access tokens that a refresh token's record says were refused somewhere.
        func refused(of refreshToken: RefreshTokenRecord, now: Int) -> [AccessTokenRecord] {
            let digests = Refusals.tokens(in: refreshToken, now: now)
            return records.accessTokens.filter { digests.contains($0.secret.reveal().shortDigest) }
        }

        /// Every record of the account.
        var everything: [CredentialRecord] {
            records.all.filter { $0.homeAccountID?.lowercased() == account.homeAccountID.lowercased() }
        }
    }

    func match(_ request: TokenRequest) throws(AcquisitionError) -> Authority {
        guard
            let match = registry.match(
                authority: request.authority, kind: request.kind, isConfigured: request.authorityIsConfigured)
        else { throw .unknownAuthority(request.authority) }
        return Authority(match: match, place: AuthorityPlace(match))
    }

    func load(_ place: AuthorityPlace) throws(AcquisitionError) -> StoredRecords {
        tell(.usingKeyring)
        let records = try storing { () throws(StoreError) in
            try store.records(matching: RecordQuery(environments: place.aliases))
        }
        if records.hasDamaged { tell(.skippingDamaged) }
        return records
    }

    /// The account for a request with what is stored for it, or nil where it has yet to sign in.
    ///
    /// - Throws: also `noSuchAccount` where there is nobody to sign it in.
    func silentAccount(
        for request: TokenRequest, _ authority: Authority, person: () async -> Person?
    ) async throws(AcquisitionError) -> SilentAccount? {
        do throws(AcquisitionError) {
            return try silentAccount(for: request, authority)
        } catch {
            guard case .noSuchAccount = error, await person() != nil else { throw error }
            return nil
        }
    }

    /// The account for a request with what is stored for it, or nil where nobody has signed in.
    func silentAccount(for request: TokenRequest, _ authority: Authority) throws(AcquisitionError) -> SilentAccount? {
        // Read first: the keyring may still be on its way.
        let history = selection?.read() ?? []
        let records = try load(authority.place)
        let known = known(records, authority, request, history)
        guard let account = try known.account(named: request.account, hint: request.userHint) else { return nil }
        let selection = SilentSelection(
            records, place: authority.place, account: account, request: request, now: clock())
        return SilentAccount(account: account, selection: selection, records: records)
    }

    /// The accounts of an authority among what is stored, and which of them a request's client uses.
    func known(
        _ records: StoredRecords, _ authority: Authority, _ request: TokenRequest, _ history: [SelectedAccount]? = nil
    ) -> AccountSelection {
        AccountSelection(
            records, at: authority.place, clientID: request.clientID, history: history ?? selection?.read() ?? [],
            isShared: isShared)
    }

    /// Runs the body while no other process has the person sign in for the same authority, client and account.
    func alone<Result: Sendable>(
        _ request: TokenRequest, account: AccountRecord?, _ body: () async throws(AcquisitionError) -> Result
    ) async throws(AcquisitionError) -> Result {
        let who = account?.homeAccountID ?? request.account ?? ""
        let key = [request.authority, request.clientID, who].map { $0.lowercased() }.joined(separator: "\n")
        return try await exclusively(key, body)
    }

    /// Runs the body while no other process of the user does so under the same key.
    ///
    /// If there is no place for locks it runs without one; if `insists` is false, also after a wait that was too long. What
    /// is stored is compared before each change all the same.
    func exclusively<Result: Sendable>(
        _ key: String, insists: Bool = true, _ body: () async throws(AcquisitionError) -> Result
    ) async throws(AcquisitionError) -> Result {
        let waiting: (Int32?) -> Void = { tell(.waitingForAnother($0)) }
        do {
            return try await singleFlight.withLock(key: key, deadline: longestWait, waiting: waiting) {
                try await body()
            }
        } catch let error as AcquisitionError {
            throw error
        } catch SingleFlightError.unusable {
            return try await body()
        } catch SingleFlightError.timedOut where !insists {
            return try await body()
        } catch {
            throw .busy
        }
    }

    /// The same, blocking the thread, for what doesn't take long.
    func exclusively(
        _ key: String, blockingFor seconds: Double, _ body: () throws(AcquisitionError) -> Void
    ) throws(AcquisitionError) {
        do {
            try singleFlight.withLock(key: key, blockingFor: seconds, body)
        } catch let error as AcquisitionError {
            throw error
        } catch SingleFlightError.unusable {
            try body()
        } catch {
            throw .busy
        }
    }

    func storing<Result>(_ body: () throws(StoreError) -> Result) throws(AcquisitionError) -> Result {
        do { return try body() } catch { throw .store(error) }
    }

    /// Refuses a keyring that could not keep what is about to be asked for.
    func requireWritable() throws(StoreError) {
        switch store.state() {
        case .unlocked: return
        case .locked where store.mayPrompt, .noDefaultCollection where store.mayPrompt: return
        case .locked: throw StoreError(.locked)
        case .noDefaultCollection: throw StoreError(.noDefaultCollection)
        case .noSessionBus: throw StoreError(.noSessionBus)
        case .noProvider: throw StoreError(.noProvider)
        case .hung: throw StoreError(.timedOut)
        case .badBackend(let name): throw StoreError(.badBackend, detail: name)
        case .failed(let detail): throw StoreError(.broken, detail: detail)
        }
    }

    /// Sets what shapes the page that the person gets.
    ///
    /// If the tenant doesn't know the account that is signed in, the person is to choose another, unless it is the one that
    /// was named.
    func shape(
        _ ask: inout PluginRequest, for request: TokenRequest, account: AccountRecord?, because error: PluginError?
    ) {
        let isStranger = request.expectedAccount == nil && error?.isAboutAccount == true
        ask.signIn = request.signIn
        ask.signIn.prompt = request.signIn.prompt ?? (isStranger ? "select_account" : nil)
        ask.signIn.loginHint =
            request.signIn.loginHint ?? (isStranger ? nil : account?.username) ?? request.expectedAccount
        ask.redirectURI = request.signIn.redirectPort.map { "http://localhost:\($0)" }
    }

    /// Sets what renewal and sign-in have in common.
    func fill(_ ask: inout PluginRequest, from request: TokenRequest, _ authority: Authority) {
        ask.authority = request.authority
        ask.clientID = request.clientID
        ask.scopes = request.scopes
        ask.claims = request.claims
        // Continuous access evaluation: a server that refuses a token may say which claims it misses, and is heeded.
        ask.capabilities = ["CP1"]
        ask.caFile = caFile
        ask.knownHosts = knownHosts
        ask.correlationID = CorrelationID.make()
    }
}

extension PluginError.Code {
    /// Whether the person may still get through.
    var wantsPerson: Bool { self == .interactionRequired }
    /// Whether the authority can't be asked right now.
    var isOutage: Bool { self == .unavailable || self == .throttled }
}

extension PluginError {
    /// Whether another account might do: Entra's numbers for one that the tenant doesn't know or doesn't let in.
    public var isAboutAccount: Bool {
        !errorCodes.allSatisfy { ![50020, 50034, 50105, 500_212, 500_213].contains($0) }
    }

    /// Whether a family's refresh token was refused because the client is none of the family.
    var isClientMismatch: Bool { suberror == "client_mismatch" }

    /// What stands for the authority's word if the server refused what it had renewed.
    static func refused(remaining seconds: Int) -> PluginError {
        PluginError(
            .interactionRequired, "the server refused the token that had just been renewed",
            hint: "it is renewed again in \(seconds) seconds at the earliest")
    }

    /// What stands for the authority's word where nothing but the server's is known.
    static func missing(_ claims: String) -> PluginError {
        var error = PluginError(.interactionRequired, "the server misses claims in the token")
        error.claims = claims
        return error
    }
}

/// A random UUID (RFC 9562, version 4) that names one exchange in an authority's logs.
enum CorrelationID {
    static func make() -> String {
        var bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = bytes.map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0" + text : text
        }
        let groups = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16]
        return groups.map { digits[$0].joined() }.joined(separator: "-")
    }
}
