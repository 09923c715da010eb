import Rules
import TokenStore

extension Engine {
    /// Stores a password, or an authorization of another scheme, that a consumer found to work.
    func store(_ credential: Credential, for request: CredentialRequest) throws(Refusal) {
        guard let password = StoredPassword(credential), let query = PasswordQuery(request) else { return }
        if let expiry = credential.expiresOn, expiry <= surroundings.now { return }
        let sources = try readSources()
        if let agent = sources.configuration.agent {
            _ = try relay(.store(credential, request), to: agent)
            return
        }
        // If the rules answer with a token, the consumer returns that token, which is stored already.
        if (try? sources.mapsToToken(request)) == true { return }
        // Opens the session first: the store compares with what it has, which is usually the same.
        KeyringConfiguration.open()
        do throws(StoreError) { try sources.passwords.store(password, for: query) } catch { throw .store(error) }
    }
}
