import Addresses
import Claims
import OAuth
import PluginWire

/// What issuers of one kind do besides the standards, or instead of them.
struct IssuerTraits: Sendable {
    /// What people call an account there; nil for the issuers that nobody has a word for.
    var accountKind: String?
    /// Whether answers may be forms, and scopes in them have commas in between.
    var answersForms = false
    /// Whether it gives ID tokens, if it isn't asked.
    var givesIDTokens = false
    /// Whether a client's secret goes into the form, if it isn't asked.
    var takesSecretInForm = false
    /// What a hint at the person is called.
    var hintName = "login_hint"
    /// OpenID Connect's prompts that it knows.
    var prompts = SignInPrompt.allCases
    /// Further parameters of authorization requests.
    var parameters: [FormEncoding.Field] = []
    /// The names that a device code is sent under.
    var deviceCodeNames = ["device_code"]
    /// Whether a renewal has to name the redirect URI of the sign-in.
    var renewsWithRedirect = false
    /// What a dead refresh token is refused with.
    var deadTokenErrors: Set = ["invalid_grant", "unsupported_grant_type"]
    /// Where the account is told, if no endpoint is configured.
    var profile: String?
    /// The member of that answer that identifies the account.
    var subjectName = "sub"
    /// The headers of that answer that have the account's number and its name, if its body doesn't.
    var profileHeaders: (id: String, name: String)?
    /// What its answers may name as `iss` besides the authority.
    var otherNames: [String] = []
    /// Whether a document may name an issuer that isn't the authority.
    var accepts: @Sendable (String) -> Bool = { _ in false }

    /// The traits of a kind; an issuer of no kind is known by its URL, if at all.
    init(kind: String?, authority: HTTPSAddress) {
        switch kind {
        case "github": github(authority)
        case "gitlab":
            accountKind = "GitLab"
            givesIDTokens = true
            renewsWithRedirect = true
        case "gitea", "forgejo":
            accountKind = kind == "gitea" ? "Gitea" : "Forgejo"
            deadTokenErrors.insert("unauthorized_client")
        case "bitbucket":
            accountKind = "Bitbucket"
            profile = "https://api.bitbucket.org/2.0/user"
            subjectName = "uuid"
        case "bitbucket-dc":
            accountKind = "Bitbucket"
            let base = ([authority.environment] + authority.segments).joined(separator: "/")
            // Any request will do that somebody must have signed in for; its headers say who.
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

    private mutating func known(by authority: HTTPSAddress) {
        switch authority.host {
        case "accounts.google.com":
            accountKind = "Google"
            // Else there is no refresh token.
            parameters = [("access_type", "offline")]
        case let host where CustomerTenant.isHost(host): accepts = CustomerTenant.isIssuer
        default: if authority.segments.map({ $0.lowercased() }) == ["adfs"] { adfs() }
        }
    }

    private mutating func github(_ authority: HTTPSAddress) {
        accountKind = "GitHub"
        answersForms = true
        takesSecretInForm = true
        hintName = "login"
        deadTokenErrors.insert("bad_refresh_token")
        subjectName = "id"
        let isHosted = authority.host == "github.com" || authority.host.hasSuffix(".ghe.com")
        profile =
            isHosted ? "https://api.\(authority.environment)/user" : "https://\(authority.environment)/api/v3/user"
        otherNames = ["https://\(authority.environment)/login/oauth"]
    }

    private mutating func adfs() {
        prompts = [.login, .none]
        // Its documentation has both.
        deviceCodeNames = ["device_code", "code"]
    }
}

/// Entra External ID: its documents name an issuer by the tenant's id, whatever the authority calls the tenant.
enum CustomerTenant {
    private static let suffix = ".ciamlogin.com"

    /// Whether a host is a tenant's own.
    static func isHost(_ host: String) -> Bool {
        host.hasSuffix(suffix) && host.utf8.count > suffix.utf8.count && !host.dropLast(suffix.utf8.count).hasBytes(".")
    }

    /// Whether a text is `https://ID.ciamlogin.com/ID/v2.0`.
    static func isIssuer(_ text: String) -> Bool {
        guard let address = try? HTTPSAddress(text), address.port == nil, isHost(address.host),
            let tenant = address.segments.first, tenant.isUUID
        else { return false }
        return address.host == "\(tenant.lowercased())\(suffix)" && address.segments.dropFirst() == ["v2.0"]
    }
}
