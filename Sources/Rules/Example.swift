/// What hints and help show, so that nobody has to guess the form; nothing is decided by it.
public enum Example {
    /// A URL that tokens are for.
    public static let url = "https://dev.azure.com/contoso"
    /// The domain of an organisation.
    public static let domain = "contoso.com"
    /// A URL that many programs have tokens for.
    public static let graphURL = "https://graph.microsoft.com"
    /// A URL of an organisation's own server.
    public static let ownURL = "https://git.contoso.com/team"
    /// The scope of that server's tokens.
    public static let ownScope = "api://git.contoso.com/.default"
    /// The client ID of an app registration.
    public static let clientID = "11111111-2222-3333-4444-555555555555"
    /// An authority of one organisation.
    public static let authority = "https://login.microsoftonline.com/contoso.com"
    /// The same, with a word in the organisation's place.
    public static let authorityToFill = "https://login.microsoftonline.com/TENANT"
    /// An authority of all organisations.
    public static let wideAuthority = "https://login.microsoftonline.com/organizations"
    /// A scope, and what it is for.
    static let scopes = "scopes = [\"499b84ac-1321-427f-aa17-267ca6975798/.default\"] for Azure DevOps"
}
