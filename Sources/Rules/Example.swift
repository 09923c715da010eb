/// Examples for hints and help, which show the form of a value; they have no other effect.
public enum Example {
    /// A URL that needs a token.
    public static let url = "https://dev.azure.com/contoso"
    /// An organisation's domain.
    public static let domain = "contoso.com"
    /// A URL that many programs need tokens for.
    public static let graphURL = "https://graph.microsoft.com"
    /// A URL of an organisation's own server.
    public static let ownURL = "https://git.contoso.com/team"
    /// The scope of that server's tokens.
    public static let ownScope = "api://git.contoso.com/.default"
    /// The client ID of an app registration.
    public static let clientID = "11111111-2222-3333-4444-555555555555"
    /// An authority of a single organisation.
    public static let authority = "https://login.microsoftonline.com/contoso.com"
    /// The same authority with a placeholder for the organisation.
    public static let authorityToFill = "https://login.microsoftonline.com/TENANT"
    /// An authority of all organisations.
    public static let wideAuthority = "https://login.microsoftonline.com/organizations"
    /// A scope, and its resource.
    static let scopes = "scopes = [\"499b84ac-1321-427f-aa17-267ca6975798/.default\"] for Azure DevOps"
}
