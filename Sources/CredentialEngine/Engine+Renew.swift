import PluginHost
public import Rules
import TokenAcquisition
import TokenStore

extension Engine {
    /// Renews the token that answered a request, ahead of time and only if it is still stored, and remembers the new one.
    ///
    /// The engine's acquirer must be one that renews ahead of time.
    ///
    /// - Parameters:
    ///   - request: The request that was answered.
    ///   - mark: The `Credential.mark` of the credential that was handed out.
    /// - Returns: Whether there is a newer credential now.
    public func renew(_ request: CredentialRequest, answeredBy mark: String) async -> Bool {
        var request = request
        request.isUnattended = true
        do throws(Refusal) {
            let sources = try readSources()
            guard let wanted = try sources.resolve(request) else { return false }
            let place = CachedCredential(request, in: surroundings)?.place()
            let decision = try sources.decide(wanted, place: request.place)
            if case .answer(let token) = decision.step {
                // Another process was quicker. The answer cache may still have the old token.
                guard Credential(token, at: nil).mark != mark else { return false }
                surroundings.given.note(token.accessToken)
                place?.keep(token, at: decision.match?.issuer, for: wanted, from: sources)
                return true
            }
            guard let replaced = decision.replaced, Credential(replaced, at: nil).mark == mark else { return false }
            let token = try await sources.token(
                for: wanted, place: request.place, by: decision, isUnattended: true)
            guard Credential(token, at: nil).mark != mark else { return false }
            surroundings.given.note(token.accessToken)
            place?.keep(token, at: decision.match?.issuer, for: wanted, from: sources, isAhead: true)
            return true
        } catch {
            return false
        }
    }
}
