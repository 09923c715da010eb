/// The kind of a stored item; the raw value is the item's `kind` attribute, and MSAL's word in its keys.
public enum CredentialKind: String, Sendable, Hashable, CaseIterable {
    /// A bearer access token.
    case accessToken = "accesstoken"
    /// An access token bound to another scheme, such as `pop`.
    case accessTokenWithScheme = "accesstoken_with_authscheme"
    /// A refresh token, of one client or of a family of clients.
    case refreshToken = "refreshtoken"
    /// An OpenID Connect ID token.
    case idToken = "idtoken"
    /// An account that signed in.
    case account = "account"
    /// The metadata of a client at an authority: its family.
    case appMetadata = "appmetadata"
    /// The result of exchanging a token, which MSAL doesn't have.
    case exchanged = "exchanged"
}
