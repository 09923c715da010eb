import Rules
import TokenStore

extension CredentialEngine {
    /// Forgets what a consumer found not to work.
    func erase(_ request: CredentialRequest, _ refused: Question.Refused) throws(Refusal) {
        var query = PasswordQuery(request)
        query?.password = refused.password
        query?.credential = refused.authorization
        // A script's own request names a token and no place.
        guard query != nil || (request.scheme == nil && request.host == nil && !request.wish.isEmpty) else { return }
        let opened = Result { () throws(Refusal) in try readSources() }
        if let agent = (try? opened.get())?.configuration.agent {
            _ = try relay(.erase(request, refused), to: agent)
            return
        }
        if mayMeanToken(request, opened) { surroundings.answers.forget() }
        let sources = try opened.get()
        // git tells what the server missed in the token here: the `get` before knew of no token yet.
        if let wanted = (try? sources.resolveHeedingServer(request)) ?? (try? sources.resolve(request)) {
            return try sources.reject(refused.authorization ?? refused.password, for: wanted, place: request.place)
        }
        guard let query else { return }
        let count: Int
        do throws(StoreError) { count = try sources.passwords.erase(query) } catch { throw .store(error) }
        if count == 0, refused.mustExist { throw .noPassword }
    }

    /// Whether a token may have been refused, as any may if the rules can't be read.
    ///
    /// It must not be answered again, whatever is stored by now: one that isn't stored any more may be in an answer that is
    /// on its way.
    private func mayMeanToken(_ request: CredentialRequest, _ sources: Result<CredentialSources, Refusal>) -> Bool {
        do throws(Refusal) {
            return try sources.get().mapsToToken(request)
        } catch {
            return true
        }
    }
}
