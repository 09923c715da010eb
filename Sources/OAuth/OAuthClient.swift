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
    /// What answers of the authorization endpoint have to name as `iss` (RFC 9207); nil takes any and none.
    package var issuer: Issuer?
    /// Whether the authority can post the answer to an authorization request (OAuth 2.0 Form Post Response Mode).
    package var postsAnswers = true
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

    /// `client_id` and, unless it is empty, `scope`.
    var identity: [FormEncoding.Field] {
        [("client_id", id)] + (scope.isEmpty ? [] : [("scope", scope)])
    }
}

extension OAuthClient {
    /// Who an authorization response must come from, so that no other authority's code is redeemed here.
    package struct Issuer: Sendable, Equatable {
        /// The issuer as the authority's own metadata spell it.
        package var name: String
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
            return named.utf8.elementsEqual(name.utf8)
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
