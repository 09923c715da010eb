import Rules
import TokenStore

extension Engine {
    /// Erases a credential that a consumer reports as not working.
    func erase(_ request: CredentialRequest, _ refused: Question.Refused) throws(Refusal) {
        var query = PasswordQuery(request)
        query?.password = refused.password
        query?.credential = refused.authorization
        // A script's own request names a token but no place.
        guard query != nil || (request.scheme == nil && request.host == nil && !request.wish.isEmpty) else { return }
        let opened = Result { () throws(Refusal) in try readSources() }
        if let agent = (try? opened.get())?.configuration.agent {
            _ = try relay(.erase(request, refused), to: agent)
            return
        }
        if mayMeanToken(request, opened) { surroundings.answers.forget() }
        let sources = try opened.get()
        // With `erase`, git passes the server's challenge to the token. The preceding `get` couldn't: there was no
        // token yet.
        var unchallenged = request
        unchallenged.wwwAuthenticate = []
        if let wanted = (try? sources.resolve(request)) ?? (try? sources.resolve(unchallenged)) {
            return try sources.reject(refused.authorization ?? refused.password, for: wanted, place: request.place)
        }
        guard let query else { return }
        let count: Int
        do throws(StoreError) { count = try sources.passwords.erase(query) } catch { throw .store(error) }
        if count == 0, refused.mustExist { throw .noPassword }
    }

    /// Whether the request may be about a token; true if the rules can't be read.
    ///
    /// If so, all remembered answers are dropped, whatever the keyring holds: a token that is no longer stored may
    /// still be in an answer that another process is about to remember.
    private func mayMeanToken(_ request: CredentialRequest, _ sources: Result<CredentialSources, Refusal>) -> Bool {
        do throws(Refusal) {
            return try sources.get().mapsToToken(request)
        } catch {
            return true
        }
    }
}
