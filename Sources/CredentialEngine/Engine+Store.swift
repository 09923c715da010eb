import Rules
import TokenStore

extension Engine {
    /// Stores a password, or an authorization of another scheme, that a consumer found to work.
    ///
    /// Tools also report the tokens that they were given. A token is recognised by itself, because what a tool reports need not
    /// name the URL and the user that it asked for.
    func store(_ credential: Credential, for request: CredentialRequest) throws(Refusal) -> Attempt {
        guard let password = StoredPassword(credential), let query = PasswordQuery(request) else {
            return .settled(.nothing)
        }
        if let expiry = credential.expiresOn, expiry <= surroundings.now { return .settled(.nothing) }
        return try answer(.store(credential, request)) { sources throws(Refusal) in
            // If the rules answer with a token, the consumer returns that token, which is stored already.
            if (try? sources.mapsToToken(request)) == true { return .settled(.nothing) }
            // Opens the session first: the store compares with what it has, which is usually the same.
            surroundings.keyring.open()
            var isStored = !surroundings.given.contain(password.fingerprints)
            if isStored {
                do throws(StoreError) { isStored = try sources.passwords.store(password, for: query) } catch {
                    throw .store(error)
                }
            }
            guard isStored || !terms.mustKeep else { throw .ownToken(place: request.place) }
            return .settled(.nothing)
        }
    }
}
