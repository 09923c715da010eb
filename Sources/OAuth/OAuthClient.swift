import Addresses
import FoundationEssentials
package import HTTP
import JSON
package import Secrets

/// A client at an authority (RFC 6749, 2): its endpoints, its scope, and the additional content of its requests.
package struct OAuthClient: Sendable {
    /// The authority's host as shown to users, with the port unless it is 443.
    package var authority: String
    /// The authority's endpoints.
    package var endpoints: Endpoints
    /// The client ID (RFC 6749, 2.2).
    package var id: String
    /// The `scope` parameter of its requests; not sent if empty.
    package var scope: String
    /// Further scopes, which only sign-in pages are asked for: the user consents, and no token comes of it.
    package var furtherScopes = ""
    /// The redirect URI; a port is added on a loopback host without one.
    package var redirectURI: String
    /// Additional parameters of authorization and token requests.
    package var parameters: [FormEncoding.Field] = []
    /// Additional parameters of requests that repeat the scope: token and device authorization requests.
    package var grantParameters: [FormEncoding.Field] = []
    /// Additional parameters of requests that redeem a refresh token.
    package var renewalParameters: [FormEncoding.Field] = []
    /// Additional parameters of device authorization requests.
    package var deviceParameters: [FormEncoding.Field] = []
    /// Whether the endpoints speak JSON with names in camel case, in place of forms and snake case, as AWS's do.
    package var usesCamelCase = false
    /// How the client authenticates.
    package var authentication = ClientAuthentication.none
    /// Whether token requests repeat the scope.
    package var repeatsScope = false
    /// Whether authorization requests contain a nonce for the ID token.
    package var sendsNonce = true
    /// Whether the first poll with a device code waits as long as the later ones.
    package var waitsBeforePolling = true
    /// The required `iss` of authorization responses (RFC 9207); nil accepts any or none.
    package var issuer: Issuer?
    /// The hosts that the authority's pages may be at without a proof; nil for any, at an authority that is trusted to
    /// name the right ones.
    package var hosts: IssuerHosts?
    /// Whether tokens from other hosts are accepted only with an ID token, which names its issuer.
    package var provesIssuer = false
    /// Whether the authority can post authorization responses (OAuth 2.0 Form Post Response Mode).
    ///
    /// An answer in the address works everywhere, and can be pasted.
    package var postsAnswers = false
    /// Whether a refresh token may be sent a second time if the first answer was lost.
    ///
    /// This must be false if the authority invalidates a token after issuing the next one: it may treat a second use as
    /// theft.
    package var repeatsRenewals = false
    /// The parameter names that a device code is sent under; RFC 8628 has only the first.
    package var deviceCodeNames = ["device_code"]
    /// The transport for the requests.
    package var transport: Transport

    /// Creates a client that sends nothing beyond what the standards require.
    package init(
        _ id: String, at authority: String, endpoints: Endpoints, scope: String, redirectURI: String,
        transport: Transport
    ) {
        self.authority = authority
        self.endpoints = endpoints
        self.id = id
        self.scope = scope
        self.redirectURI = redirectURI
        self.transport = transport
    }

    /// The form fields that identify the client; empty if a header does.
    var credentials: [FormEncoding.Field] {
        switch authentication {
        case .none: [("client_id", id)]
        case .basic: []
        case .post(let secret): [("client_id", id), ("client_secret", secret.reveal())]
        case .assertion(let assertion):
            [
                ("client_id", id), ("client_assertion", assertion.reveal()),
                ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
            ]
        }
    }

    /// The headers that authenticate the client.
    var proof: [(String, String)] {
        guard case .basic(let secret) = authentication else { return [] }
        let pair = [id, secret.reveal()].map(FormEncoding.encode(value:)).joined(separator: ":")
        return [("authorization", "Basic \(Data(pair.utf8).base64EncodedString())")]
    }

    var scopeField: [FormEncoding.Field] { scope.isEmpty ? [] : [("scope", scope)] }

    /// The fields of a token request in addition to the grant.
    var identity: [FormEncoding.Field] { credentials + (repeatsScope ? scopeField : []) }

    /// Redeems a grant at the token endpoint.
    ///
    /// - Parameters:
    ///   - grant: The grant.
    ///   - headers: Additional headers.
    /// - Returns: The tokens, unvalidated.
    /// - Throws: the authority's refusal, or the reason why there is no answer.
    package func redeem(
        _ grant: TokenGrant, headers: [(String, String)] = []
    ) async throws(OAuthError) -> TokenResponse {
        let answer = try await post(
            endpoints.token, grant.fields(for: self), headers: proof + headers, grant.repetition(by: self))
        return try TokenResponse(answer, from: authority, stage: grant.stage)
    }

    /// Posts the parameters of a request in the form that the endpoints take.
    func post(
        _ url: String, _ fields: [FormEncoding.Field], headers: [(String, String)], _ repetition: Transport.Repetition
    ) async throws(OAuthError) -> HTTPAnswer {
        guard usesCamelCase else { return try await transport.post(url, fields, headers: headers, repetition) }
        let members = fields.map { ($0.name.inCamelCase, JSONValue.string($0.value)) }
        let document = JSONValue.object(Dictionary(members) { $1 }).encodedText
        let answer = try await transport.post(url, json: document, headers: headers, repetition)
        guard let said = JSONValue(bytes: answer.body)?.members else { return answer }
        let renamed = Dictionary(said.map { ($0.key.inSnakeCase, $0.value) }) { $1 }
        return HTTPAnswer(status: answer.status, headers: answer.headers, body: JSONValue.object(renamed).encoded())
    }

    /// Revokes a refresh token and the tokens obtained with it (RFC 7009).
    ///
    /// A token that the authority doesn't know counts as revoked.
    ///
    /// - Throws: the authority's refusal, or the reason why it can't be reached.
    package func revoke(_ refreshToken: Secret, at endpoint: String) async throws(OAuthError) {
        let fields: [FormEncoding.Field] = [
            ("token", refreshToken.reveal()), ("token_type_hint", "refresh_token"),
        ]
        let answer = try await transport.post(endpoint, fields + credentials, headers: proof, .harmless)
        guard answer.status != 200 else { return }
        if let refusal = ErrorResponse(answer) { throw OAuthError(refusal, at: .revocation) }
        throw OAuthError(.unavailable, "\(authority) did not revoke the token (HTTP \(answer.status))")
    }

    /// Gets a resource of the authority with an access token.
    ///
    /// - Throws: `unavailable` if the answer isn't a success.
    package func answer(of resource: String, to accessToken: Secret) async throws(OAuthError) -> HTTPAnswer {
        let proof = ("authorization", "Bearer \(accessToken.reveal())")
        let answer = try await transport.get(resource, headers: [proof])
        guard answer.status == 200 else {
            throw OAuthError(
                .unavailable, "\(authority) does not say who signed in (HTTP \(answer.status))",
                hint: "check the scopes: one may be missing that lets the account be read")
        }
        return answer
    }
}

/// How a client authenticates (RFC 6749, 2.3.1).
package enum ClientAuthentication: Sendable, Equatable {
    /// Not at all: it is a public client.
    case none
    /// With a secret in HTTP Basic authentication.
    case basic(Secret)
    /// With a secret in the form.
    case post(Secret)
    /// With an assertion in the form (RFC 7523, 2.2).
    case assertion(Secret)
}

extension OAuthClient {
    /// The issuer that authorization responses must come from, so that no other authority's code is redeemed here.
    package struct Issuer: Sendable, Equatable {
        /// The issuer as the authority's own metadata spells it.
        package var name: String
        /// Other accepted spellings of the issuer.
        package var aliases: [String] = []
        /// Whether the authority states that it always names the issuer; if not, a response may omit it.
        package var isAlwaysNamed: Bool

        /// Creates an issuer without aliases.
        package init(_ name: String, isAlwaysNamed: Bool) {
            self.name = name
            self.isAlwaysNamed = isAlwaysNamed
        }

        /// Whether a response that names this issuer, or none, may be the authority's.
        func accepts(_ named: String?) -> Bool {
            guard let named else { return !isAlwaysNamed }
            return ([name] + aliases).contains { $0.utf8.elementsEqual(named.utf8) }
        }
    }
}

/// An authority's endpoints; each is https and has been checked to belong to the authority.
package struct Endpoints: Sendable, Equatable {
    /// The authorization endpoint (RFC 6749, 3.1).
    package var authorization: String?
    /// The token endpoint (RFC 6749, 3.2).
    package var token: String
    /// The device authorization endpoint (RFC 8628, 3.1).
    package var deviceAuthorization: String?
    /// The end-session endpoint (OpenID Connect RP-Initiated Logout 1.0, 2).
    package var endSession: String?
    /// The userinfo endpoint (OpenID Connect Core 1.0, 5.3).
    package var userinfo: String?
    /// The revocation endpoint (RFC 7009, 2).
    package var revocation: String?

    /// Creates endpoints; nil for those that the authority lacks.
    package init(
        authorization: String?, token: String, deviceAuthorization: String? = nil, endSession: String? = nil
    ) {
        self.authorization = authorization
        self.token = token
        self.deviceAuthorization = deviceAuthorization
        self.endSession = endSession
    }
}

/// A grant to redeem at the token endpoint (RFC 6749, 4.1.3 and 6; RFC 8628, 3.4).
package enum TokenGrant: Sendable {
    /// An authorization code with its redirect URI and code verifier.
    case code(Secret, redirectURI: String, verifier: String)
    case refreshToken(Secret)
    /// The client's own credentials (RFC 6749, 4.4).
    case clientCredentials
    /// A token of another issuer, in exchange for which the authority gives one of its own (RFC 8693, 2.1).
    case exchange(Secret)
    /// A device code, whose user code may not have been entered yet.
    case deviceCode(Secret)

    /// Returns the fields of the token request.
    package func fields(for client: OAuthClient) -> [FormEncoding.Field] {
        switch self {
        case .code(let code, let redirectURI, let verifier):
            [
                ("grant_type", "authorization_code"), ("code", code.reveal()), ("redirect_uri", redirectURI),
                ("code_verifier", verifier),
            ] + client.identity + client.parameters + client.grantParameters
        case .refreshToken(let token):
            [("grant_type", "refresh_token"), ("refresh_token", token.reveal())]
                + client.identity + client.parameters + client.grantParameters + client.renewalParameters
        case .clientCredentials:
            [("grant_type", "client_credentials")] + client.credentials + client.scopeField + client.parameters
                + client.grantParameters
        case .exchange(let token):
            [
                ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"), ("subject_token", token.reveal()),
                ("subject_token_type", "urn:ietf:params:oauth:token-type:jwt"),
                ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
            ] + client.credentials + client.scopeField + client.parameters + client.grantParameters
        case .deviceCode(let code):
            client.credentials + [("grant_type", "urn:ietf:params:oauth:grant-type:device_code")]
                + client.parameters + client.deviceCodeNames.map { ($0, code.reveal()) }
        }
    }

    /// The stage of a refusal of this grant.
    var stage: OAuthError.Stage {
        switch self {
        case .code: .redemption
        case .refreshToken: .refresh
        case .clientCredentials, .exchange: .authentication
        case .deviceCode: .device
        }
    }

    func repetition(by client: OAuthClient) -> Transport.Repetition {
        switch self {
        case .code: .unlessActedOn
        case .refreshToken: client.repeatsRenewals ? .harmless : .unlessActedOn
        case .clientCredentials, .exchange: .harmless
        case .deviceCode: .never
        }
    }
}

extension String {
    /// `device_code` as `deviceCode`.
    fileprivate var inCamelCase: String {
        let words = pieces(between: "_")
        return words.dropFirst().reduce(words.first.map(String.init) ?? "") {
            $0 + $1.prefix(1).uppercased() + $1.dropFirst()
        }
    }

    /// `deviceCode` as `device_code`.
    fileprivate var inSnakeCase: String {
        utf8.reduce(into: "") { text, byte in
            let isCapital = (0x41...0x5A).contains(byte)
            text += (isCapital ? "_" : "") + String(decoding: [isCapital ? byte | 0x20 : byte], as: UTF8.self)
        }
    }
}
