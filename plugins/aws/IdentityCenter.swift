import Addresses
import Claims
import Crypto
import FoundationEssentials
import HTTP
import JSON
import OAuth
import PluginOAuth
import PluginWire
import Secrets

/// The state of one request: AWS's IAM Identity Center of a start URL, and a client that is registered there.
///
/// It speaks OAuth in JSON with names in camel case, and has clients with secrets that anybody registers for themselves. A
/// sign-in's client is kept in the refresh token that the host stores, since no other can redeem it.
struct IdentityCenter: OAuthSession {
    let request: PluginRequest
    let transport: Transport
    let isRecalled = false
    private let address: StrictURL
    /// Where it is.
    let region: Region
    private var registration = Registration(clientID: "", secret: "", end: 0)
    /// What the user calls the account, if several sign in at one start URL.
    private var name: String?

    /// A registered client.
    private struct Registration: Sendable {
        var clientID: String
        var secret: String
        /// Seconds since 1970.
        var end: Int
    }

    /// Creates a session without a client.
    ///
    /// - Throws: `invalid-request` if nothing tells the region.
    init(_ request: PluginRequest, over transport: Transport) throws(PluginError) {
        guard let address = StrictURL(https: request.authority) else {
            throw PluginError(
                .invalidRequest, "the authority \(request.authority.displayable(limit: 200)) is no start URL")
        }
        self.address = address
        self.request = request
        self.transport = transport
        let hint = request.signIn.loginHint?.displayable(limit: 256)
        name = hint == address.hostText ? nil : hint
        region =
            if let name = Self.region(ofStartURLAt: address.host.name) { try Region(name, request) } else {
                try Region(ofOptionsOf: request)
            }
    }

    /// Returns the region in the name of a start URL's host: `ID.portal.REGION.app.aws`, or `ID.REGION.portal.amazonaws.com`.
    static func region(ofStartURLAt host: String) -> String? {
        let labels = host.pieces(between: ".").map(String.init)
        guard labels.count > 4 else { return nil }
        if labels[2] == "portal", labels[3] == "amazonaws" { return labels[1] }
        let domains = ["app.aws", "app.amazonwebservices.com.cn", "api.amazonwebservices.eu"]
        return labels[1] == "portal" && domains.contains(labels[3...].joined(separator: ".")) ? labels[2] : nil
    }

    /// Where clients are registered and tokens are issued.
    var oidc: String { region.url("oidc") }

    var client: OAuthClient {
        let endpoints = Endpoints(
            authorization: "\(oidc)/authorize", token: "\(oidc)/token",
            deviceAuthorization: "\(oidc)/device_authorization")
        var client = OAuthClient(
            registration.clientID, at: StrictURL(https: oidc)?.hostText ?? "", endpoints: endpoints, scope: "",
            redirectURI: Self.redirectURI, transport: transport)
        client.authentication = .post(Secret(registration.secret))
        client.usesCamelCase = true
        client.deviceParameters = [("start_url", request.authority)]
        client.sendsNonce = false
        return client
    }

    /// Where the browser comes back to, as AWS's own programs register it.
    private static let redirectURI = "http://127.0.0.1/oauth/callback"

    func anew() -> IdentityCenter { self }

    // MARK: - The client

    /// Returns the session with a new client, which may use these flows.
    func registered(for flows: [Flow]) async throws(PluginError) -> IdentityCenter {
        var wanted: [String: JSONValue] = [
            "clientName": "lanyard", "clientType": "public", "scopes": JSONValue(strings: request.scopes),
        ]
        if flows.contains(where: { $0 != .deviceCode }) {
            let device = flows.contains(.deviceCode) ? ["urn:ietf:params:oauth:grant-type:device_code"] : []
            wanted["grantTypes"] = JSONValue(strings: ["authorization_code"] + device + ["refresh_token"])
            wanted["redirectUris"] = [.string(Self.redirectURI)]
            wanted["issuerUrl"] = .string(request.authority)
        }
        let document = JSONValue.object(wanted).encodedText
        let url = "\(oidc)/client/register"
        let answer = try await plainly { () async throws(OAuthError) in
            let answer = try await transport.post(url, json: document, .harmless)
            if let refusal = ErrorResponse(answer) { throw OAuthError(refusal, at: .registration) }
            return answer
        }
        guard let said = answer.json, let id = said["clientId"]?.string?.plain(limit: 4096),
            let secret = said["clientSecret"]?.string?.plain(limit: 16_384)
        else {
            throw PluginError(
                .unavailable, "\(StrictURL(https: oidc)?.hostText ?? "") answered with something that is no client",
                hint: "check that no proxy or network sign-in page is in between")
        }
        var session = self
        session.registration = Registration(
            clientID: id, secret: secret, end: said["clientSecretExpiresAt"]?.wholeNumber ?? .max)
        return session
    }

    /// Returns the session with the client of a sign-in, and its refresh token.
    ///
    /// - Throws: `interaction-required` if the client has ended, or isn't there.
    func recalled(from kept: Secret) throws(PluginError) -> (IdentityCenter, Secret) {
        guard let text = Base64URL.decode(kept.reveal()),
            let kept = JSONValue(bytes: text), let refreshToken = kept["refreshToken"]?.string,
            let id = kept["client"]?["clientID"]?.string, let secret = kept["client"]?["secret"]?.string,
            let end = kept["client"]?["end"]?.wholeNumber, end > Int(Date.now.timeIntervalSince1970)
        else {
            var error = PluginError(.interactionRequired, "the registration at \(address.hostText) has ended")
            error.reasons = [.deadToken]
            throw error
        }
        var session = self
        session.registration = Registration(clientID: id, secret: secret, end: end)
        session.name = kept["name"]?.string
        return (session, Secret(refreshToken))
    }

    // MARK: - Sign-in

    func authorizationParameters() -> [FormEncoding.Field] { [("scopes", request.scopes.joined(separator: " "))] }

    func accept(_ response: TokenResponse, nonce: String?) throws(OAuthError) -> PluginResult {
        var result = PluginResult(
            accessToken: response.accessToken, expiresIn: response.expiresIn, scopes: request.scopes,
            environment: address.hostText,
            realm: PluginProtocol.realm(ofPath: address.segments.map(String.init)), account: account)
        if let refreshToken = response.refreshToken {
            let client: JSONValue = [
                "clientID": .string(registration.clientID), "secret": .string(registration.secret),
                "end": JSONValue(registration.end),
            ]
            // The host keeps all of it as the refresh token.
            let kept: JSONValue = [
                "client": client, "refreshToken": .string(refreshToken.reveal()), "name": JSONValue(name),
            ]
            result.refreshToken = Secret(Base64URL.encode(kept.encoded()))
        }
        return result
    }

    /// The account of the start URL, or of a name there: Identity Center doesn't tell who signed in.
    private var account: PluginAccount {
        let text = [request.authority, name].compactMap(\.self).joined(separator: "\n")
        let digest = SHA256.hash(data: Data(text.utf8)).prefix(16).hexadecimal
        var account = PluginAccount(homeAccountID: digest, username: name ?? address.hostText)
        account.kind = "IAM Identity Center"
        return account
    }

    func shouldTryNextFlow(after error: OAuthError) -> Bool {
        guard case .refused(let response, .device) = error.kind else { return false }
        return response.error == "unauthorized_client"
    }

    func page(with result: PluginResult) -> LoopbackPage {
        var page = LoopbackPage.success
        page.facts = request.facts(account: nil, authority: request.authority)
        return page
    }

    func pluginError(_ error: OAuthError) -> PluginError {
        guard case .refused(let response, let stage) = error.kind else {
            var plain = error.plain
            if case .untrusted = error.kind { plain.code = .invalidRequest }
            return plain
        }
        var plain = PluginError(.invalidRequest, "\(address.hostText) refuses: \(response.summary())")
        plain.error = response.error.plain(limit: 100)
        switch (response.error, stage) {
        case (_, .refresh):
            plain.code = .interactionRequired
            if response.error != "invalid_request" { plain.reasons = [.deadToken] }
        case ("access_denied", _): (plain.code, plain.message) = (.cancelled, "you cancelled the sign-in")
        case ("expired_token", _): (plain.code, plain.message) = (.cancelled, "the code expired before it was used")
        case ("invalid_request", .registration), ("invalid_request", .device):
            plain.hint = "check the start URL and its region, \(region.name)"
        default: break
        }
        return plain
    }
}
