import CredentialProtocol
import TokenStore

/// `store`: keeps a password, or an authorization of another scheme, that a consumer found to work.
struct CredentialStore {
    private let context: CommandContext

    init(_ context: CommandContext) {
        self.context = context
    }

    func run() throws(Failure) {
        let request = try context.readRequest()
        guard !request.isEphemeral, let password = StoredPassword(request), let query = PasswordQuery(request) else {
            return
        }
        if let expiry = request.passwordExpiry, expiry <= context.now { return }
        let session = try Session(context, options: .init(isInteractive: true))
        // Where a token answers, what comes back is that token, which is stored already.
        if (try? session.resolve(request)) != nil { return }
        // It is read first, for mostly it is stored already.
        KeyringOpening.begin()
        do throws(StoreError) {
            try session.passwords.store(password, for: query)
        } catch {
            throw Failure(error)
        }
    }
}

extension StoredPassword {
    /// What a request brings to keep; nil where it lacks a part.
    init?(_ request: CredentialRequest) {
        if let type = request.authtype, let credential = request.credential {
            self.init(username: request.username, proof: .authorization(type: type, credential: credential))
        } else if let username = request.username, let password = request.password {
            self.init(username: username, proof: .password(password))
        } else {
            return nil
        }
        expiresOn = request.passwordExpiry.flatMap(Int.init(exactly:))
        oauthRefreshToken = request.oauthRefreshToken
    }
}
