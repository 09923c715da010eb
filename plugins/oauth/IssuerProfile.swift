import Addresses
import Claims
import Crypto
import FoundationEssentials
import HTTP
import JSON
import OAuth
import PluginWire

/// An account's profile: from the claims of an ID token or of the userinfo endpoint (OpenID Connect Core 1.0, 5.1), or
/// from a host's own API.
struct IssuerProfile: Sendable, Equatable {
    /// The account's identifier at the issuer.
    var sub: String?
    private var identifiers: [String: String] = [:]
    private var names: [String: String] = [:]

    /// Creates an empty profile.
    init() {}

    /// Parses an issuer's answer; nil if it doesn't describe an account.
    init?(_ answer: HTTPAnswer, _ traits: IssuerTraits) {
        guard let headers = traits.profileHeaders else {
            guard let members = answer.json?.members else { return nil }
            self.init(members)
            return
        }
        guard let id = answer.only(headers.id), !id.isEmpty else { return nil }
        self.init()
        identifiers[traits.subjectName] = id
        names["username"] = answer.only(headers.name)?.percentDecoded
    }

    /// Reads the members of an object; one of the wrong type counts as absent.
    init(_ members: [String: JSONValue]) {
        names = members.compactMapValues { $0.string.flatMap { $0.isEmpty ? nil : $0 } }
        sub = names["sub"]
        identifiers = names
        // Host-specific numbers are IDs of that host; a `sub` is text.
        if let number = members["id"]?.integer { identifiers["id"] = String(number) }
    }

    /// Returns the account's identifier, by the issuer's name for it.
    func subject(_ name: String) -> String? {
        identifiers[name].flatMap { $0.utf8.count <= 255 ? $0 : nil }
    }

    /// The account's name as the user knows it, preferably the host's user name rather than an address; nil if there is
    /// none.
    var username: String? {
        ["preferred_username", "upn", "login", "username", "email", "nickname"].lazy.compactMap { names[$0] }.first
            ?? name
    }

    /// The display name.
    var name: String? { names["name"] ?? names["display_name"] }
}

/// The key that an account is stored under: hashes of the issuer and subject, in MSAL's form.
struct AccountIdentifier: Sendable, Equatable {
    /// `uid.utid` in lower case: case matters in a subject, but not in an identifier.
    let text: String

    /// Creates the identifier of an issuer's subject.
    init(issuer: String, subject: String) {
        text = "\(Self.digest("\(issuer)\0\(subject)")).\(Self.digest(issuer))"
    }

    /// Half of a text's SHA-256.
    static func digest(_ text: String) -> String {
        SHA256.hash(data: Data(text.utf8)).prefix(16).hexadecimal
    }
}

/// The ways in which issuers of one kind extend or deviate from the standards.
struct IssuerTraits: Sendable {
    /// The issuer's name for its accounts in messages; nil for issuers without a special name.
    var accountKind: String?
    /// Whether its servers register some apps by themselves.
    var registersApps = false
    /// Whether `offline_access` gets tokens that end, and refresh tokens, although no metadata says so.
    var takesOfflineAccess = false
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
    /// The URL of GitHub's API.
    var api: String?
    /// The endpoints that are known beforehand.
    let endpoints: KnownEndpoints
    /// The URL of the account's profile, if no endpoint is known.
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
        endpoints = KnownEndpoints(of: kind, at: authority)
        switch kind {
        case "github": github(authority)
        case "gitlab":
            accountKind = "GitLab"
            givesIDTokens = true
            renewsWithRedirect = true
        case "gitea", "forgejo":
            accountKind = kind == "gitea" ? "Gitea" : "Forgejo"
            registersApps = true
        case "bitbucket":
            accountKind = "Bitbucket"
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
        case let host where Self.isCustomerTenant(host): accepts = Self.isIssuerOfCustomerTenant
        default: if authority.segments.map({ $0.lowercased() }) == ["adfs"] { adfs() }
        }
    }

    private mutating func github(_ authority: StrictURL) {
        accountKind = "GitHub"
        takesSecretInForm = true
        takesOfflineAccess = true
        hintName = "login"
        subjectName = "id"
        let isHosted = authority.host.name == "github.com" || authority.host.name.hasSuffix(".ghe.com")
        let api = isHosted ? "https://api.\(authority.hostText)" : "https://\(authority.hostText)/api/v3"
        self.api = api
        profile = "\(api)/user"
        otherNames = ["https://\(authority.hostText)/login/oauth"]
    }

    private mutating func adfs() {
        prompts = [.login, .none]
        // Its documentation uses both.
        deviceCodeNames = ["device_code", "code"]
    }
}

// Entra External ID: its documents name an issuer by the tenant's ID, however the authority names the tenant.
extension IssuerTraits {
    private static let domain = "ciamlogin.com"

    /// Whether a host is a tenant's own.
    private static func isCustomerTenant(_ host: String) -> Bool {
        host.cut(at: ".").map { label, rest in !label.isEmpty && rest.isSame(as: domain) } ?? false
    }

    /// Whether a text is `https://ID.ciamlogin.com/ID/v2.0`.
    private static func isIssuerOfCustomerTenant(_ text: String) -> Bool {
        guard let address = StrictURL(https: text), isCustomerTenant(address.hostText),
            let tenant = address.segments.first, tenant.isUUID
        else { return false }
        return address.hostText == "\(tenant.lowercased()).\(domain)" && address.segments.dropFirst() == ["v2.0"]
    }
}
