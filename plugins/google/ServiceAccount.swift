import Addresses
import JSON
import OAuth
import PluginOAuth
import PluginWire
import Secrets

/// A service account's key, which signs a request for a token (RFC 7523).
struct ServiceAccount: GoogleCredentials {
    private let services: GoogleServices
    private let account: String
    private let key: ClientCertificate
    private let keyID: String?
    private let url: String

    let words = "a service account's key"

    init(_ file: CredentialsReader) throws(PluginError) {
        services = file.services
        account = try file.text("client_email")
        keyID = file.members["private_key_id"]?.string
        url = try file.url("token_uri", at: "oauth2") ?? services.hosts.url("oauth2") + "/token"
        let pem = Secret(try file.text("private_key"))
        do throws(OAuthError) { key = try ClientCertificate(key: pem, in: file.path) } catch {
            throw PluginError(
                .invalidRequest, "private_key in \(file.path.displayable(limit: 300)) is not an RSA key in PEM",
                hint: "have Google make another key for the service account; it shows each only once")
        }
    }

    func token(_ demand: GoogleDemand) async throws(PluginError) -> GoogleToken {
        let proof: Secret
        do throws(OAuthError) {
            let grant: ClientCertificate.Grant =
                switch demand {
                case .access(let scopes): .init(scope: scopes.joined(separator: " "))
                case .id(let audience): .init(targetAudience: audience)
                }
            proof = try key.grant(
                grant, of: account, keyID: keyID, for: "https://oauth2.\(services.hosts.universe)/token")
        } catch {
            throw error.plain
        }
        let (said, answer) = try await services.post(
            url, [("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", proof.reveal())],
            for: "the key of \(account.displayable(limit: 120))")
        if case .id = demand { return try services.token(said, answer, from: url, member: "id_token") }
        return try services.token(said, answer, from: url)
    }
}
