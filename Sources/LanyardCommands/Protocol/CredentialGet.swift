import Addresses
import CredentialProtocol
import Rules
import Secrets
import TokenAcquisition
import TokenStore

/// `get`: prints the credential for a request, or nothing.
struct CredentialGet: Sendable {
    private let context: CommandContext
    private let options: InteractionOptions.Values

    init(_ context: CommandContext, _ options: InteractionOptions.Values) {
        self.context = context
        self.options = options
    }

    /// Answers from what is stored, where that is enough; what remains to be done is for the authority or the person.
    func answerFromStore() throws(Failure) -> (any PendingVerb)? {
        let request = try context.readRequest()
        try request.requireTarget()
        let remembered = RememberedAnswer(request, in: context)
        if let answer = remembered?.recalled {
            context.console.write(answer)
            return nil
        }
        let begun = remembered?.begun()
        let vainLook = VainLook(request, in: context)
        vainLook.beginLooking()
        do throws(Failure) {
            return try look(for: request, begun, vainLook)
        } catch  where error.cause.isOfKeyring {
            if error.cause == .lockedKeyring, let session = try? Session(context, options: options),
                let offer = UnlockOffer(session)
            {
                return LockedGet(
                    get: self, request: request, remembered: begun, vainLook: vainLook, offer: offer, failure: error)
            }
            // Abstain: git goes on to its next helper, and nothing that is stored is taken for absent.
            context.console.report(error)
            return nil
        }
    }

    fileprivate func look(
        for request: CredentialRequest, _ remembered: RememberedAnswer.Begun?, _ vainLook: VainLook
    ) throws(Failure) -> PendingGet? {
        let session = try Session(context, options: options)
        guard let wanted = try session.resolveHeedingServer(request) else {
            let answer = try password(for: request, session)
            vainLook.note(wasVain: answer == nil)
            if let answer { try context.write(answer, for: request) }
            return nil
        }
        let stored = try storedToken(for: request, wanted, session)
        let pending = PendingGet(
            request: request, wanted: wanted, session: session, stored: stored, remembered: remembered)
        guard case .token(let token) = stored else { return pending }
        try pending.write(token)
        return nil
    }

    /// What is stored for a request, less a token that the server has just refused.
    ///
    /// Where the server misses claims, they are reason enough to pass the stored token over. Else the refusal counts as one
    /// that `erase` tells of, if it is of the token that is stored: another process may have renewed it meanwhile.
    private func storedToken(
        for request: CredentialRequest, _ wanted: TokenRequest, _ session: Session
    ) throws(Failure) -> TokenAcquirer.Stored? {
        let stored = try session.stored(for: wanted, url: request.place)
        guard let refused = request.refusedToken, wanted.claims == nil, case .token(let token) = stored,
            token.accessToken.fingerprint == refused
        else { return stored }
        do throws(AcquisitionError) {
            try session.acquirer.reject(token.accessToken, for: wanted)
        } catch {
            throw Failure(error, request: wanted, url: request.place)
        }
        return try session.stored(for: wanted, url: request.place)
    }

    private func password(for request: CredentialRequest, _ session: Session) throws(Failure) -> CredentialAnswer? {
        guard let query = PasswordQuery(request) else { return nil }
        do throws(StoreError) {
            guard let found = try session.passwords.get(query, now: Int(context.now)) else { return nil }
            let expiry = found.expiresOn.map(Int64.init)
            switch found.proof {
            case .password(let password):
                return .password(
                    password, username: found.username ?? "", expiry: expiry,
                    oauthRefreshToken: found.oauthRefreshToken)
            case .authorization(let type, let credential):
                return .credential(credential, authtype: type, username: found.username, expiry: expiry)
            }
        } catch {
            throw Failure(error)
        }
    }
}

/// A `get` that what is stored did not answer.
struct PendingGet: PendingVerb {
    let request: CredentialRequest
    let wanted: TokenRequest
    let session: Session
    let stored: TokenAcquirer.Stored?
    let remembered: RememberedAnswer.Begun?

    /// Gets the token from the authority or the person, and reports what goes wrong on stderr.
    func finish() async -> ExitStatus {
        let console = session.context.console
        do throws(Failure) {
            try write(try await session.token(for: wanted, url: request.place, stored: stored))
            return .done
        } catch {
            // The person said no: git must not go on to ask for a password.
            if [.cancellation, .interruption].contains(error.cause) { console.write(Array("quit=1\n".utf8)) }
            console.report(error)
            // Where the keyring is the reason, abstain: git goes on to its next helper.
            return error.cause.isOfKeyring ? .done : error.status
        }
    }

    /// Answers with a token, and keeps the answer.
    func write(_ token: AcquiredToken) throws(Failure) {
        try session.context.write(token.answer, for: request)
        remembered?.keep(token, for: wanted, in: session)
    }
}

/// A request that needs the keyring, which is locked.
struct LockedGet: PendingVerb {
    let get: CredentialGet
    let request: CredentialRequest
    let remembered: RememberedAnswer.Begun?
    let vainLook: VainLook
    let offer: UnlockOffer
    let failure: Failure

    /// Answers once the person has unlocked the keyring; abstains if they don't.
    func finish() async -> ExitStatus {
        guard await offer.isTaken(for: request.place) else {
            offer.console.report(failure)
            return .done
        }
        do throws(Failure) {
            return try await get.look(for: request, remembered, vainLook)?.finish() ?? .done
        } catch {
            offer.console.report(error)
            return error.cause.isOfKeyring ? .done : error.status
        }
    }
}

extension CommandContext {
    /// Writes an answer in git's format.
    fileprivate func write(_ answer: CredentialAnswer, for request: CredentialRequest) throws(Failure) {
        do {
            console.write(try answer.attributes(for: request).encoded)
        } catch {
            throw Failure("what is stored for \(request.url) cannot be written in git's format")
        }
    }
}

extension AcquiredToken {
    /// What a consumer is told; git needs some user name, and a B2C account may have none.
    var answer: CredentialAnswer {
        .token(
            accessToken, username: account.username.isEmpty ? "token" : account.username, expiry: Int64(expiresOn),
            fingerprint: accessToken.fingerprint)
    }
}

extension CredentialRequest {
    /// Refuses a request that names neither a place nor a token: an absent host is no wildcard (CVE-2020-11008).
    ///
    /// Only a certificate's file has no host; its path is what it is found by.
    func requireTarget() throws(Failure) {
        if isCertificate, wish.isEmpty { return }
        guard host == nil || scheme == nil else { return }
        guard wish.isEmpty || host != nil || scheme != nil else { return }
        let missing = host == nil ? "host" : "protocol"
        throw Failure("the request names no \(missing)", hints: [Failure.protocolHint])
    }

    /// The request's place as a URL, fit to show; nil where it names none, as a script's own may.
    var place: String? {
        guard let scheme, let host else { return nil }
        return "\(scheme)://\(host.urlText)/\((path ?? "").percentEncodedPath)".displayable(limit: 500)
    }

    /// The request's place in a sentence.
    var url: String { place ?? "the request" }
}

extension PasswordQuery {
    /// What a request asks of the password store; nil where it names no place.
    init?(_ request: CredentialRequest) {
        guard let scheme = request.scheme, let host = request.host?.text ?? (request.isCertificate ? "" : nil) else {
            return nil
        }
        self.init(scheme: scheme, host: host, path: request.path, username: request.username)
        password = request.password
        credential = request.credential
        acceptsAuthtype = request.capabilities.contains(.authtype)
    }
}
