import Addresses
import Files
import JSON
import OAuth
import PluginOAuth
import PluginWire
import Secrets

/// Google's application default credentials: of a file that a variable names, else of gcloud's own file, else of the machine.
struct DefaultCredentials: Sendable {
    private let kind: any GoogleCredentials

    /// Where they were found, for users.
    var words: String { kind.words }

    /// Finds them, in Google's order.
    ///
    /// A file that is there but can't be used is an error: another one would be another account's.
    init(_ surroundings: GoogleSurroundings, _ services: GoogleServices) async throws(PluginError) {
        if let account = try surroundings.account {
            kind = try await MetadataServer.found(surroundings, account: account)
            return
        }
        if let path = surroundings.variable("GOOGLE_APPLICATION_CREDENTIALS") {
            guard path.utf8.first == UInt8(ascii: "/") else {
                throw PluginError(
                    .invalidRequest, "GOOGLE_APPLICATION_CREDENTIALS is no path from the root",
                    hint: "write it with a leading slash: other folders mean other files")
            }
            guard let file = try CredentialsFile(path) else { throw Self.missing(path) }
            kind = try file.credentials(surroundings, services)
        } else if let path = Self.usualPath(surroundings), let file = try CredentialsFile(path) {
            kind = try file.credentials(surroundings, services)
        } else {
            kind = try await MetadataServer.found(surroundings, account: nil)
        }
    }

    /// Gets a token.
    func token(_ demand: GoogleDemand) async throws(PluginError) -> GoogleToken { try await kind.token(demand) }

    /// The file that gcloud writes.
    private static func usualPath(_ surroundings: GoogleSurroundings) -> String? {
        let folder =
            surroundings.variable("CLOUDSDK_CONFIG")
            ?? surroundings.variable("HOME").map { "\($0)/.config/gcloud" }
        guard let folder, folder.utf8.first == UInt8(ascii: "/") else { return nil }
        return "\(folder)/application_default_credentials.json"
    }

    private static func missing(_ path: String) -> PluginError {
        PluginError(
            .invalidRequest,
            "there is no file \(path.displayable(limit: 300)), which GOOGLE_APPLICATION_CREDENTIALS names",
            hint: "correct the variable, or unset it")
    }
}

/// One way to tokens of Google's.
protocol GoogleCredentials: Sendable {
    /// What they are, for users.
    var words: String { get }

    func token(_ demand: GoogleDemand) async throws(PluginError) -> GoogleToken
}

/// A file of credentials, of any type.
struct CredentialsFile: Sendable {
    private static let longest = 1 << 20

    let path: String
    private let document: JSONValue

    /// Reads a file; nil if there is none.
    ///
    /// - Throws: `invalid-request` if it can't be read, holds none of Google's, or could have been written by anybody.
    init?(_ path: String) throws(PluginError) {
        if FileStatus(of: path) == nil { return nil }
        let bytes: [UInt8]
        do throws(FileError) {
            let file = try OpenFile(path)
            guard try !file.status().grants(0o002) else { throw FileError.exposed }
            bytes = try file.contents(atMost: Self.longest)
        } catch {
            throw PluginError(
                .invalidRequest, "the file \(path.displayable(limit: 300)) can't be used: \(error.reason)",
                hint: "check that it is yours and private")
        }
        try self.init(bytes, of: path)
    }

    /// Reads the contents of a file.
    ///
    /// - Throws: `invalid-request` if they are none of Google's.
    init(_ bytes: [UInt8], of path: String) throws(PluginError) {
        guard let document = JSONValue(bytes: bytes), document["type"]?.string != nil else {
            throw PluginError(
                .invalidRequest, "the file \(path.displayable(limit: 300)) holds no credentials of Google's",
                hint: "it should be JSON with a type, such as service_account")
        }
        (self.path, self.document) = (path, document)
    }

    private var place: String { "the file \(path.displayable(limit: 300))" }

    /// Returns what the file describes.
    func credentials(
        _ surroundings: GoogleSurroundings, _ services: GoogleServices
    ) throws(PluginError) -> any GoogleCredentials {
        try CredentialsReader(
            members: document, place: place, path: path, surroundings: surroundings, services: services
        )
        .credentials(mayImpersonate: true)
    }
}

/// Reads the members of a file of credentials.
struct CredentialsReader: Sendable {
    let members: JSONValue
    let place: String
    let path: String
    let surroundings: GoogleSurroundings
    let services: GoogleServices

    /// Returns what the members describe.
    func credentials(mayImpersonate: Bool) throws(PluginError) -> any GoogleCredentials {
        let type = members["type"]?.string ?? ""
        try services.hosts.require(universe: members["universe_domain"]?.string, in: place)
        switch type {
        case "authorized_user": return try UserCredentials(self)
        case "service_account": return try ServiceAccount(self)
        case "external_account_authorized_user": return try WorkforceUser(self)
        case "external_account" where mayImpersonate: return try ExternalAccount(self)
        case "impersonated_service_account" where mayImpersonate: return try Impersonation(self)
        default:
            throw PluginError(
                .unsupported,
                "\(place) has credentials of the type \(type.displayable(limit: 60)), which lanyard can't use",
                hint: """
                    it can use authorized_user, service_account, external_account, external_account_authorized_user and \
                    impersonated_service_account
                    """)
        }
    }

    /// Returns a text that must be there.
    func text(_ member: String) throws(PluginError) -> String {
        guard let text = members[member]?.string, !text.isEmpty, text.utf8.count <= 1 << 16 else {
            throw PluginError(.invalidRequest, "\(place) lacks `\(member)`", hint: "get a new one")
        }
        return text
    }

    /// Returns a URL that secrets may be sent to; nil if the member isn't there.
    func url(_ member: String, at service: String) throws(PluginError) -> String? {
        guard let text = members[member]?.string, !text.isEmpty else { return nil }
        return try services.hosts.checked(text, [service], "`\(member)`", in: place)
    }

    /// Returns the URL of an impersonation; nil if the member isn't there.
    func impersonationURL() throws(PluginError) -> String? {
        let member = "service_account_impersonation_url"
        guard let text = try url(member, at: "iamcredentials") else { return nil }
        guard text.hasSuffix(":generateAccessToken"), StrictURL(https: text)?.hasQueryOrFragment == false else {
            throw PluginError(.invalidRequest, "the `\(member)` in \(place) doesn't end in :generateAccessToken")
        }
        return text
    }
}

/// A person's sign-in that gcloud left.
struct UserCredentials: GoogleCredentials {
    private let services: GoogleServices
    private let id: String
    private let secret: Secret
    private let refreshToken: Secret

    let words = "a person's sign-in that gcloud left"

    init(_ file: CredentialsReader) throws(PluginError) {
        services = file.services
        id = try file.text("client_id")
        secret = Secret(try file.text("client_secret"))
        refreshToken = Secret(try file.text("refresh_token"))
    }

    func token(_ demand: GoogleDemand) async throws(PluginError) -> GoogleToken {
        guard case .access(let scopes) = demand else { throw .noIDToken(words) }
        let url = services.hosts.url("oauth2") + "/token"
        var form: [FormEncoding.Field] = [
            ("grant_type", "refresh_token"), ("client_id", id), ("client_secret", secret.reveal()),
            ("refresh_token", refreshToken.reveal()),
        ]
        if !scopes.isEmpty { form.append(("scope", scopes.joined(separator: " "))) }
        let (said, answer) = try await services.post(url, form, for: "the sign-in")
        return try services.token(said, answer, from: url)
    }
}

/// A workforce user's sign-in that gcloud left.
struct WorkforceUser: GoogleCredentials {
    private let services: GoogleServices
    private let id: String
    private let secret: Secret
    private let refreshToken: Secret
    private let url: String

    let words = "a workforce user's sign-in that gcloud left"

    init(_ file: CredentialsReader) throws(PluginError) {
        services = file.services
        id = try file.text("client_id")
        secret = Secret(try file.text("client_secret"))
        refreshToken = Secret(try file.text("refresh_token"))
        url = try file.url("token_url", at: "sts") ?? services.hosts.url("sts") + "/v1/oauthtoken"
    }

    func token(_ demand: GoogleDemand) async throws(PluginError) -> GoogleToken {
        guard case .access = demand else { throw .noIDToken(words) }
        let (said, answer) = try await services.post(
            url, [("grant_type", "refresh_token"), ("refresh_token", refreshToken.reveal())], basic: (id, secret),
            for: "the sign-in")
        return try services.token(said, answer, from: url)
    }
}

extension PluginError {
    /// The error for credentials whose ID tokens are for nobody else.
    static func noIDToken(_ words: String) -> PluginError {
        PluginError(
            .unsupported, "\(words) gives no ID token for a service",
            hint: "impersonate a service account: gcloud auth application-default login "
                + "--impersonate-service-account=NAME@PROJECT.iam.gserviceaccount.com")
    }
}

/// A service account that other credentials of the same file impersonate.
struct Impersonation: GoogleCredentials {
    private let services: GoogleServices
    private let source: any GoogleCredentials
    private let url: String
    private let delegates: [String]

    let words = "a service account that is impersonated"

    init(_ file: CredentialsReader) throws(PluginError) {
        services = file.services
        guard let url = try file.impersonationURL(), let members = file.members["source_credentials"],
            members.members != nil
        else {
            throw PluginError(
                .invalidRequest, "\(file.place) lacks whom it impersonates, or by which credentials",
                hint: "write it anew: gcloud auth application-default login --impersonate-service-account=ACCOUNT")
        }
        self.url = url
        delegates = (file.members["delegates"]?.elements ?? []).compactMap(\.string)
        source = try CredentialsReader(
            members: members, place: file.place, path: file.path, surroundings: file.surroundings,
            services: file.services
        ).credentials(mayImpersonate: false)
    }

    func token(_ demand: GoogleDemand) async throws(PluginError) -> GoogleToken {
        // A person's sign-in has the scopes that were agreed to then.
        let scopes = source is ServiceAccount ? [GoogleServices.impersonation] : []
        let by = try await source.token(.access(scopes)).secret
        return try await services.impersonate(url, for: demand, delegates: delegates, lifetime: 3600, by: by)
    }
}
