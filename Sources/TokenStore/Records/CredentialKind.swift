/// What a stored item is; the raw value is the item's `kind` attribute and MSAL's word in its keys.
public enum CredentialKind: String, Sendable, Hashable, CaseIterable {
    /// A bearer access token.
    case accessToken = "accesstoken"
    /// An access token bound to another scheme, such as `pop`.
    case accessTokenWithScheme = "accesstoken_with_authscheme"
    /// A refresh token, of one client or of a family of clients.
    case refreshToken = "refreshtoken"
    /// An OpenID Connect ID token.
    case idToken = "idtoken"
    /// Who signed in.
    case account = "account"
    /// What is known of a client at an authority: its family.
    case appMetadata = "appmetadata"
    /// What a token was exchanged for; MSAL has no such thing.
    case exchanged = "exchanged"
}
