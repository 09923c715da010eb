import CredentialProtocol
import Rules
import TokenAcquisition
import TokenStore

/// `get`: prints the credential for a request, or nothing.
struct CredentialGet {
    private let context: CommandContext
    private let options: InteractionOptions.Values

    init(_ context: CommandContext, _ options: InteractionOptions.Values) {
        self.context = context
        self.options = options
    }

    func run() async throws(Failure) {
        let request = try context.readRequest()
        try request.requireTarget()
        let remembered = RememberedAnswer(request, in: context)
        if let answer = remembered?.recalled { return context.console.write(answer) }
        do throws(Failure) {
            try await answer(request, remembered?.begun())
        } catch  where error.cause == .keyring {
            // Abstain: git goes on to its next helper, and nothing that is stored is taken for absent.
            context.console.report(error)
        } catch  where [.cancellation, .interruption].contains(error.cause) {
            // The person said no: git must not go on to ask for a password.
            context.console.write(Array("quit=1\n".utf8))
            throw error
        }
    }

    private func answer(
        _ request: CredentialRequest, _ remembered: RememberedAnswer.Begun?
    ) async throws(Failure) {
        let session = try Session(context, options: options)
        guard let wanted = try session.resolveHeedingServer(request) else {
            return try write(try password(for: request, session), for: request)
        }
        let token = try await session.token(for: wanted, url: request.url)
        try write(token.answer, for: request)
        remembered?.keep(token, for: wanted, in: session)
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

    private func write(_ answer: CredentialAnswer?, for request: CredentialRequest) throws(Failure) {
        guard let answer else { return }
        do {
            context.console.write(try answer.attributes(for: request).encoded)
        } catch {
            throw Failure("what is stored for \(request.url) cannot be written in git's format")
        }
    }
}

extension AcquiredToken {
    /// What a consumer is told; git needs some user name, and a B2C account may have none.
    var answer: CredentialAnswer {
        .token(accessToken, username: account.username.isEmpty ? "token" : account.username, expiry: Int64(expiresOn))
    }
}

extension CredentialRequest {
    /// Refuses a request that names neither a place nor a token: an absent host is no wildcard (CVE-2020-11008).
    func requireTarget() throws(Failure) {
        guard host == nil || scheme == nil else { return }
        guard wish.isEmpty || host != nil || scheme != nil else { return }
        let missing = host == nil ? "host" : "protocol"
        throw Failure("the request names no \(missing)", hints: [Failure.protocolHint])
    }

    /// The request's place as a URL, fit to show.
    var url: String {
        guard let scheme, let host else { return "the request" }
        return "\(scheme)://\(host.text)/\(path ?? "")".displayable(limit: 500)
    }
}

extension PasswordQuery {
    /// What a request asks of the password store; nil where it names no place.
    init?(_ request: CredentialRequest) {
        guard let scheme = request.scheme, let host = request.host else { return nil }
        self.init(scheme: scheme, host: host.text, path: request.path, username: request.username)
        password = request.password
        credential = request.credential
        acceptsAuthtype = request.capabilities.contains(.authtype)
    }
}
