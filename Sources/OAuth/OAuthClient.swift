import FoundationEssentials
package import Secrets

/// A client at an authority (RFC 6749, 2): where it asks, for what, and what it says besides.
package struct OAuthClient: Sendable {
    /// The authority's host as people are told it, with the port unless it is 443.
    package var authority: String
    /// Where it asks.
    package var endpoints: Endpoints
    /// The client ID (RFC 6749, 2.2).
    package var id: String
    /// The `scope` value of its requests; empty sends none.
    package var scope: String
    /// Where a browser is sent back to; on a loopback host without a port, one is added.
    package var redirectURI: String
    /// Further parameters of authorization and token requests.
    package var parameters: [FormEncoding.Field] = []
    /// Further parameters of requests that name the scope once more: for tokens, and for a device code.
    package var grantParameters: [FormEncoding.Field] = []
    /// Further parameters of requests that redeem a refresh token.
    package var renewalParameters: [FormEncoding.Field] = []
    /// How it proves who it is.
    package var authentication = ClientAuthentication.none
    /// Whether requests for tokens name the scope once more.
    package var repeatsScope = false
    /// Whether authorization requests have a nonce, for an ID token to name.
    package var sendsNonce = true
    /// Whether answers may be forms instead of JSON.
    package var takesForms = false
    /// Whether the first question whether a device code was used waits for as long as the others.
    package var waitsBeforePolling = true
    /// What answers of the authorization endpoint have to name as `iss` (RFC 9207); nil takes any and none.
    package var issuer: Issuer?
    /// Whether the authority can post the answer to an authorization request (OAuth 2.0 Form Post Response Mode).
    ///
    /// An answer in the address works everywhere, and can be pasted.
    package var postsAnswers = false
    /// Whether a refresh token may be sent a second time if the first answer was lost.
    ///
    /// Not if the authority takes a token back once it has given the next: it may take a second use for a theft.
    package var repeatsRenewals = false
    /// The names that a device code is sent under; RFC 8628 has only the first.
    package var deviceCodeNames = ["device_code"]
    /// The way there.
    package var transport: Transport

    /// Makes a client that says nothing besides what the standards want.
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

    /// What identifies the client in a form; nothing if a header does.
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

    /// What proves the client besides the form.
    var proof: [(String, String)] {
        guard case .basic(let secret) = authentication else { return [] }
        let pair = [id, secret.reveal()].map(FormEncoding.encode(value:)).joined(separator: ":")
        return [("authorization", "Basic \(Data(pair.utf8).base64EncodedString())")]
    }

    /// `scope`, unless it is empty.
    var scopeField: [FormEncoding.Field] { scope.isEmpty ? [] : [("scope", scope)] }

    /// What a request for tokens has besides its grant.
    var identity: [FormEncoding.Field] { credentials + (repeatsScope ? scopeField : []) }

    /// An answer of the authority's, as JSON.
    func read(_ answer: HTTPAnswer) -> HTTPAnswer { takesForms ? answer.formAsJSON : answer }
}

/// How a client proves who it is (RFC 6749, 2.3.1).
package enum ClientAuthentication: Sendable, Equatable {
    /// Not at all: it is a public client.
    case none
    /// By a secret in HTTP's Basic authentication.
    case basic(Secret)
    /// By a secret in the form.
    case post(Secret)
    /// By an assertion in the form (RFC 7523, 2.2).
    case assertion(Secret)
}

extension OAuthClient {
    /// Who an authorization response must come from, so that no other authority's code is redeemed here.
    package struct Issuer: Sendable, Equatable {
        /// The issuer as the authority's own metadata spell it.
        package var name: String
        /// Other spellings of it that the authority is known for.
        package var aliases: [String] = []
        /// Whether the authority says that it always names it; else an answer may leave it out.
        package var isAlwaysNamed: Bool

        /// Makes an issuer.
        package init(_ name: String, isAlwaysNamed: Bool) {
            self.name = name
            self.isAlwaysNamed = isAlwaysNamed
        }

        /// Whether an answer that names this issuer, or none, may be the authority's.
        func accepts(_ named: String?) -> Bool {
            guard let named else { return !isAlwaysNamed }
            return ([name] + aliases).contains { $0.utf8.elementsEqual(named.utf8) }
        }
    }
}

/// Where an authority is asked for what; https each, and checked to be its own.
package struct Endpoints: Sendable, Equatable {
    /// RFC 6749, 3.1.
    package var authorization: String?
    /// RFC 6749, 3.2.
    package var token: String
    /// RFC 8628, 3.1.
    package var deviceAuthorization: String?
    /// OpenID Connect RP-Initiated Logout 1.0, 2.
    package var endSession: String?
    /// OpenID Connect Core 1.0, 5.3.
    package var userinfo: String?
    /// RFC 7009, 2.
    package var revocation: String?

    /// Makes endpoints.
    package init(
        authorization: String?, token: String, deviceAuthorization: String? = nil, endSession: String? = nil
    ) {
        self.authorization = authorization
        self.token = token
        self.deviceAuthorization = deviceAuthorization
        self.endSession = endSession
    }
}
