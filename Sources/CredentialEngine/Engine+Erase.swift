import Rules
import TokenStore

extension Engine {
    /// Erases a credential that a consumer reports as not working.
    func erase(_ request: CredentialRequest, _ refused: Question.Refused) throws(Refusal) -> Attempt {
        var query = PasswordQuery(request)
        query?.password = refused.password
        query?.credential = refused.authorization
        // A script's own request names a token but no place.
        guard query != nil || (request.scheme == nil && request.host == nil && !request.wish.isEmpty) else {
            return .settled(.nothing)
        }
        do throws(Refusal) {
            return try answer(.erase(request, refused)) { sources throws(Refusal) in
                // A token that is no longer stored may still be in an answer that another process is about to remember.
                if (try? sources.mapsToToken(request)) != false { surroundings.answers.forget() }
                try sources.erase(query, for: request, refused)
                return .settled(.nothing)
            }
        } catch {
            if case .settings = error { surroundings.answers.forget() }
            throw error
        }
    }
}

extension CredentialSources {
    /// Drops the token that the request gets, or erases the password that the query finds if it gets none.
    fileprivate func erase(
        _ query: PasswordQuery?, for request: CredentialRequest, _ refused: Question.Refused
    ) throws(Refusal) {
        // With `erase`, git passes the server's challenge to the token. The preceding `get` couldn't: there was no
        // token yet.
        var unchallenged = request
        unchallenged.wwwAuthenticate = []
        if let wanted = (try? resolve(request)) ?? (try? resolve(unchallenged)) {
            return try reject(refused.authorization ?? refused.password, for: wanted, place: request.place)
        }
        guard let query else { return }
        let count: Int
        do throws(StoreError) { count = try passwords.erase(query) } catch { throw .store(error) }
        if count == 0, refused.mustExist { throw .noPassword }
    }
}
