import Addresses
import Claims
import OAuth
import PluginWire

/// The ways in which issuers of one kind extend or deviate from the standards.
struct IssuerTraits: Sendable {
    /// The issuer's name for its accounts in messages; nil for issuers without a special name.
    var accountKind: String?
    /// Whether it issues ID tokens, if its metadata isn't fetched.
    var givesIDTokens = false
    /// Whether the client secret is sent in the form, if its metadata isn't fetched.
    var takesSecretInForm = false
    /// The name of the login hint parameter.
    var hintName = "login_hint"
    /// The supported `prompt` values of OpenID Connect.
    var prompts = SignInPrompt.allCases
    /// Additional parameters of authorization requests.
    var parameters: [FormEncoding.Field] = []
    /// The parameter names that a device code is sent under.
    var deviceCodeNames = ["device_code"]
    /// Whether a renewal must include the redirect URI of the sign-in.
    var renewsWithRedirect = false
    /// The URL of the account's profile, if no endpoint is configured.
    var profile: String?
    /// The profile's member that identifies the account.
    var subjectName = "sub"
    /// The headers with the account's number and name, if the body of that answer doesn't contain them.
    var profileHeaders: (id: String, name: String)?
    /// Other accepted values of `iss` in its responses, besides the authority.
    var otherNames: [String] = []
    /// Whether a document may name this issuer although it isn't the authority.
    var accepts: @Sendable (String) -> Bool = { _ in false }

    /// Creates the traits of a kind; without a kind, the issuer may be recognised by its URL.
    init(kind: String?, authority: StrictURL) {
        switch kind {
        case "github": github(authority)
        case "gitlab":
            accountKind = "GitLab"
            givesIDTokens = true
            renewsWithRedirect = true
        case "gitea", "forgejo":
            accountKind = kind == "gitea" ? "Gitea" : "Forgejo"
        case "bitbucket":
            accountKind = "Bitbucket"
            profile = "https://api.bitbucket.org/2.0/user"
            subjectName = "uuid"
        case "bitbucket-dc":
            accountKind = "Bitbucket"
            let base = ([authority.hostText[...]] + authority.segments).joined(separator: "/")
            // Any resource that requires a sign-in will do; the answer's headers name the account.
            profile = "https://\(base)/rest/api/1.0/application-properties"
            profileHeaders = ("x-auserid", "x-ausername")
            subjectName = "id"
        case "huggingface":
            accountKind = "Hugging Face"
            givesIDTokens = true
        case "adfs": adfs()
        default: known(by: authority)
        }
    }

    private mutating func known(by authority: StrictURL) {
        switch authority.host.name {
        case "accounts.google.com":
            accountKind = "Google"
            // Without this, there is no refresh token.
            parameters = [("access_type", "offline")]
        case let host where CustomerTenant.isHost(host): accepts = CustomerTenant.isIssuer
        default: if authority.segments.map({ $0.lowercased() }) == ["adfs"] { adfs() }
        }
    }

    private mutating func github(_ authority: StrictURL) {
        accountKind = "GitHub"
        takesSecretInForm = true
        hintName = "login"
        subjectName = "id"
        let isHosted = authority.host.name == "github.com" || authority.host.name.hasSuffix(".ghe.com")
        profile =
            isHosted ? "https://api.\(authority.hostText)/user" : "https://\(authority.hostText)/api/v3/user"
        otherNames = ["https://\(authority.hostText)/login/oauth"]
    }

    private mutating func adfs() {
        prompts = [.login, .none]
        // Its documentation uses both.
        deviceCodeNames = ["device_code", "code"]
    }
}

/// Entra External ID: its documents name an issuer by the tenant's ID, however the authority names the tenant.
enum CustomerTenant {
    private static let domain = "ciamlogin.com"

    /// Whether a host is a tenant's own.
    static func isHost(_ host: String) -> Bool {
        host.cut(at: ".").map { label, rest in !label.isEmpty && rest.isSame(as: domain) } ?? false
    }

    /// Whether a text is `https://ID.ciamlogin.com/ID/v2.0`.
    static func isIssuer(_ text: String) -> Bool {
        guard let address = StrictURL(https: text), isHost(address.hostText),
            let tenant = address.segments.first, tenant.isUUID
        else { return false }
        return address.hostText == "\(tenant.lowercased()).\(domain)" && address.segments.dropFirst() == ["v2.0"]
    }
}
