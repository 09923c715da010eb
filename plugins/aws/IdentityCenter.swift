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
/// It speaks OAuth in JSON with names in camel case, and has clients with secrets that anybody registers for themselves. The
/// host keeps the last one as the app's secret. A sign-in's client is in the refresh token, too, since no other can redeem
/// it.
struct IdentityCenter: OAuthSession {
    let request: PluginRequest
    let transport: Transport
    let isRecalled = false
    private let address: StrictURL
    /// Where it is.
    let region: Region
    /// The start URL at AWS, if the authority is one of the organisation's own that only leads there.
    private var startURL: String
    private var registration = Registration()
    /// What the user calls the account, if several sign in at one start URL.
    private var name: String?

    /// A registered client.
    private struct Registration: Sendable {
        var clientID = ""
        var secret = ""
        /// Seconds since 1970.
        var end = 0
        /// What it was registered with, and where.
        var terms: JSONValue = .null
        var place = ""
        /// Whether the host doesn't have it yet.
        var isNew = false

        /// The longest text of it that the host keeps.
        private static let longest = 4096

        init() {}

        /// Reads a client that was kept; nil if that is none, or it has ended.
        init?(_ kept: JSONValue?) {
            guard let id = kept?["clientID"]?.string, let secret = kept?["secret"]?.string,
                let end = kept?["end"]?.wholeNumber, end > Int(Date.now.timeIntervalSince1970)
            else { return nil }
            (clientID, self.secret, self.end) = (id, secret, end)
            (terms, place) = (kept?["terms"] ?? .null, kept?["place"]?.string ?? "")
        }

        /// The client in the form in which it is kept.
        var kept: JSONValue {
            [
                "clientID": .string(clientID), "secret": .string(secret), "end": JSONValue(end), "terms": terms,
                "place": .string(place),
            ]
        }

        /// What the host is to keep; nil if it has that already, or can't.
        var news: Secret? {
            let text = kept.encodedText
            return isNew && text.utf8.count <= Self.longest ? Secret(text) : nil
        }
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
        startURL = request.authority
        self.request = request
        self.transport = transport
        let hint = request.signIn.loginHint?.displayable(limit: 256)
        name = hint == address.hostText ? nil : hint
        region =
            if let name = StartURL.region(inHost: address.host.name) { try Region(name, request) } else {
                try Region(ofOptionsOf: request)
            }
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
        client.deviceParameters = [("start_url", startURL)]
        client.sendsNonce = false
        return client
    }

    /// Where the browser comes back to, as AWS's own programs register it.
    private static let redirectURI = "http://127.0.0.1/oauth/callback"

    func anew() -> IdentityCenter { self }

    // MARK: - The client

    /// Seconds before a client's end from which the next sign-in registers another: its refresh token would end with it.
    private static let earliness = 604_800
    private static let deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

    /// Does something as the client that the host keeps, or as a new one if that can't be used by these flows, has ended or is
    /// refused.
    func registered<Result: Sendable>(
        for flows: [Flow], _ body: (IdentityCenter) async throws(PluginError) -> Result
    ) async throws(PluginError) -> Result {
        var session = self
        session.startURL = try await StartURL.atAWS(request.authority, address, transport)
        let terms = session.terms(for: flows)
        if let kept = request.clientSecret, let known = Registration(JSONValue(bytes: kept.reveal().utf8)),
            known.place == oidc,
            [terms, session.terms(for: [.browser, .deviceCode])].contains(known.terms),
            known.end > Int(Date.now.timeIntervalSince1970) + Self.earliness
        {
            session.registration = known
            do throws(PluginError) {
                // A page for a client that AWS has forgotten never comes back here.
                if flows != [.deviceCode] { _ = try await session.probe(oidc, clockLead: nil) }
                return try await body(session)
            } catch {
                guard error.error == "invalid_client" else { throw error }
            }
        }
        session.registration = try await session.newClient(terms)
        return try await body(session)
    }

    /// What a client is registered with for these flows, as AWS's own programs do it.
    private func terms(for flows: [Flow]) -> JSONValue {
        var terms: [String: JSONValue] = [
            "clientName": "lanyard", "clientType": "public", "scopes": JSONValue(strings: request.scopes),
        ]
        if flows.contains(where: { $0 != .deviceCode }) {
            let device = flows.contains(.deviceCode) ? [Self.deviceGrant] : []
            terms["grantTypes"] = JSONValue(strings: ["authorization_code"] + device + ["refresh_token"])
            terms["redirectUris"] = [.string(Self.redirectURI)]
            terms["issuerUrl"] = .string(startURL)
        }
        return .object(terms)
    }

    private func newClient(_ terms: JSONValue) async throws(PluginError) -> Registration {
        let url = "\(oidc)/client/register"
        let answer = try await plainly { () async throws(OAuthError) in
            let answer = try await transport.post(url, json: terms.encodedText, .harmless)
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
        var registration = Registration()
        (registration.clientID, registration.secret) = (id, secret)
        registration.end = said["clientSecretExpiresAt"]?.wholeNumber ?? .max
        (registration.terms, registration.place, registration.isNew) = (terms, oidc, true)
        return registration
    }

    /// Returns the session with the client of a sign-in, and its refresh token.
    ///
    /// - Throws: `interaction-required` if the client has ended, or isn't there.
    func recalled(from kept: Secret) throws(PluginError) -> (IdentityCenter, Secret) {
        guard let text = Base64URL.decode(kept.reveal()),
            let kept = JSONValue(bytes: text), let refreshToken = kept["refreshToken"]?.string,
            let registration = Registration(kept["client"])
        else {
            var error = PluginError(.interactionRequired, "the registration at \(address.hostText) has ended")
            error.reasons = [.deadToken]
            throw error
        }
        var session = self
        session.registration = registration
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
        result.clientSecret = registration.news
        if let refreshToken = response.refreshToken {
            // The host keeps all of it as the refresh token.
            let kept: JSONValue = [
                "client": registration.kept, "refreshToken": .string(refreshToken.reveal()), "name": JSONValue(name),
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
