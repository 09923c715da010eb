import PluginHost
public import Rules
import TokenAcquisition

extension CredentialEngine {
    /// Renews ahead of time what a request was answered with, if that is still what is stored, and remembers the new answer.
    ///
    /// The engine's acquirer has to do what is due ahead of time.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - mark: what tells the credential that was handed out from others.
    /// - Returns: whether there is another credential by now.
    public func renew(_ request: CredentialRequest, answeredBy mark: String) async -> Bool {
        var request = request
        request.isUnattended = true
        do throws(Refusal) {
            let sources = try readSources()
            guard let wanted = try sources.resolveHeedingServer(request) else { return false }
            let place = CachedCredential(request, in: surroundings)?.place()
            let decision = try sources.decide(wanted, place: request.place)
            if case .answer(let token) = decision.step {
                // Another process was quicker; an answer that is kept outside of the keyring may still be the old one.
                guard Credential(token, at: nil).mark != mark else { return false }
                place?.keep(token, at: decision.match?.issuer, for: wanted, from: sources)
                return true
            }
            guard let replaced = decision.replaced, Credential(replaced, at: nil).mark == mark else { return false }
            let token = try await sources.token(
                for: wanted, place: request.place, by: decision, isUnattended: true)
            guard Credential(token, at: nil).mark != mark else { return false }
            place?.keep(token, at: decision.match?.issuer, for: wanted, from: sources, isAhead: true)
            return true
        } catch {
            return false
        }
    }
}
