import Addresses
import Claims
public import Model
public import PluginHost
import Rules

extension TokenRequest {
    /// Sets the identity, with its authority and client, and removes the account.
    mutating func apply(_ identity: Identity) {
        self.identity = identity
        authority = identity.authority ?? authority
        kind = identity.application?.kind
        clientID = identity.clientID
        account = nil
        signIn = SignInParameters()
    }

    /// Switches to another tenant of the same authority, whose URL must have the tenant as the only segment of its
    /// path.
    mutating func apply(tenant: String) throws(ResolutionError) {
        guard CredentialRequest.ExplicitToken.isTenant(tenant), let url = StrictURL(authority),
            url.segments.count == 1, let (place, _) = authority.cut(atLast: "/")
        else { throw .noTenants(authority: authority) }
        authority = "\(place)/\(tenant)"
        named.insert(.authority)
    }

    /// Records whether the user name in the URL is an account at the token's issuer; one that is, or that is an email
    /// address, is meant rather than the account that the configuration has for all requests.
    public mutating func checkUserHint(at issuer: PluginIssuer?) {
        guard let userHint else { return }
        userHintIsAccount = issuer?.hasAccounts(named: userHint) ?? false
        if namedBy == .configuration, userHintIsAccount || userHint.isAddress { (account, namedBy) = (nil, nil) }
    }
}
