import Rules
import TokenAcquisition
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
                if (try? sources.mapsToToken(request)) != false
                    || surroundings.given.contain(refused.fingerprints ?? [])
                {
                    surroundings.answers.forget()
                }
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
    /// Drops the token that was refused, or else erases the password that the query finds.
    ///
    /// A token is recognised by itself: git reports the user name that it was given with the token, which may be that of
    /// no rule, or of another one. Without a secret, the token that the request gets is meant.
    fileprivate func erase(
        _ query: PasswordQuery?, for request: CredentialRequest, _ refused: Question.Refused
    ) throws(Refusal) {
        if let fingerprints = refused.fingerprints {
            if try reject(.these(fingerprints), for: possibleTokens(for: request), place: request.place) { return }
        } else if let wanted = resolveUnchallenged(request) {
            _ = try reject(.current, for: [wanted], place: request.place)
            return
        }
        guard let query else { return }
        let count: Int
        do throws(StoreError) { count = try passwords.erase(query) } catch { throw .store(error) }
        if count == 0, refused.mustExist { throw .noPassword }
    }
}

extension CredentialSources {
    /// Records that a consumer reports tokens as refused, or no longer wants the current one.
    ///
    /// - Returns: Whether any such token is stored.
    func reject(_ refused: Refused, for wanted: [TokenRequest], place: String?) throws(Refusal) -> Bool {
        do throws(AcquisitionError) { return try acquirer.reject(refused, for: wanted) } catch {
            guard let wanted = wanted.first else {
                guard case .store(let error) = error else { return false }
                throw .store(error)
            }
            throw .noToken(error, wanted, place: place)
        }
    }

    /// Returns the tokens that a consumer may have been given for a request, most likely first.
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
}
