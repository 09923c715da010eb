import Claims
import PluginWire
import Rules
import TokenStore

extension TokenAcquirer {
    /// Sets what shapes the page that the person gets.
    ///
    /// If the tenant doesn't know the account that is signed in, the person is to choose another, unless it is the one that
    /// was named.
    func shape(
        _ ask: inout PluginRequest, for request: TokenRequest, account: AccountRecord?, because error: PluginError?
    ) {
        let isStranger = request.expectedAccount == nil && error?.isAboutAccount == true
        ask.signIn = request.signIn
        ask.signIn.prompt = request.signIn.prompt ?? (isStranger ? "select_account" : nil)
        ask.signIn.loginHint =
            request.signIn.loginHint ?? (isStranger ? nil : account?.username) ?? request.expectedAccount
        ask.redirectURI = request.signIn.redirectPort.map { "http://localhost:\($0)" }
    }

    /// Sets what renewal and sign-in have in common.
    func fill(_ ask: inout PluginRequest, from request: TokenRequest, _ authority: MatchedAuthority) {
        ask.authority = request.authority
        ask.clientID = request.clientID
        ask.scopes = request.scopes
        ask.claims = request.claims
        ask.capabilities = [.claimsChallenge]
        ask.caFile = caFile
        ask.knownHosts = knownHosts
        ask.correlationID = CorrelationID.make()
    }
}
