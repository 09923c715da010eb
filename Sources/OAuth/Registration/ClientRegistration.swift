import Addresses
import HTTP
import JSON
package import Secrets

/// A request for dynamic client registration (RFC 7591, 2) of a public client on the user's own computer.
package struct ClientRegistration: Sendable {
    private var metadata: [String: JSONValue] = [
        "application_type": "native", "token_endpoint_auth_method": "none", "response_types": ["code"],
    ]

    /// Creates a request with the application's name as users see it; it includes the device code grant if the authority
    /// supports it.
    package init(name: String, redirectURI: String, scope: String, usesDeviceCodes: Bool) {
        let device: [JSONValue] = usesDeviceCodes ? ["urn:ietf:params:oauth:grant-type:device_code"] : []
        metadata["client_name"] = .string(name)
        metadata["redirect_uris"] = [.string(redirectURI)]
        metadata["grant_types"] = .array(["authorization_code", "refresh_token"] + device)
        metadata["scope"] = scope.isEmpty ? nil : .string(scope)
    }

    /// Registers the application; every success creates another registration.
    ///
    /// - Parameters:
    ///   - endpoint: The authority's registration endpoint.
    ///   - authority: The authority's host, for error messages.
    ///   - transport: The transport for the request.
    /// - Returns: The registered application.
    /// - Throws: the authority's refusal, or the reason why it can't be reached.
    package func send(
        to endpoint: String, of authority: String, over transport: Transport
    ) async throws(OAuthError) -> RegisteredClient {
        let document = JSONValue.object(metadata).encodedText
        let answer = try await transport.post(endpoint, json: document, .unlessActedOn)
        guard [200, 201].contains(answer.status) else {
            if answer.status == 401 || answer.status == 403 { throw Self.closed(authority, answer.status) }
            if let refusal = ErrorResponse(answer) { throw OAuthError(refusal, at: .registration) }
            throw OAuthError(.unavailable, "\(authority) registered nothing (HTTP \(answer.status))")
        }
        return try RegisteredClient(answer, at: endpoint, from: authority)
    }

    /// Returns the error for an authority that requires an initial access token (RFC 7591, 3), or accepts no
    /// registrations from this network.
    private static func closed(_ authority: String, _ status: Int) -> OAuthError {
        let explicit =
            status == 401
            ? " requires a token to register an application" : " doesn't let programs register applications"
        return OAuthError(
            .unsupported, "\(authority)\(explicit)", hint: "register one on its pages, or have it registered")
    }
}

/// An application that an authority has registered (RFC 7591, 3.2.1).
package struct RegisteredClient: Sendable, Equatable {
    /// The client ID.
    package let id: String
    /// The client secret; nil if the client needs none, even if the authority sent one.
    package let secret: Secret?
    /// When the secret expires, in seconds since 1970; nil if it doesn't.
    package let secretExpiresAt: Int?
    /// The scopes that the client may request; nil if the authority doesn't say.
    package let scopes: [String]?
    /// The management URL and token that delete the registration; nil if the authority sends none, or a URL that isn't
    /// its own.
    package let management: ClientManagement?
    /// Why the registered client can't be used; nil if it can.
    package let obstacle: OAuthError?

    /// Parses the answer of a registration endpoint.
    init(_ answer: HTTPAnswer, at endpoint: String, from authority: String) throws(OAuthError) {
        guard let said = answer.json, let id = said["client_id"]?.string?.plain(limit: 256) else {
            throw OAuthError(.broken, "\(authority) registered an application and does not say which")
        }
        self.id = id
        scopes = (said["scope"]?.texts?.joined(separator: " ")).map(ScopeText.split)
        management = ClientManagement(
            said["registration_client_uri"]?.string, said["registration_access_token"]?.string, at: endpoint)
        let method = said["token_endpoint_auth_method"]?.string ?? "none"
        let wantsSecret = ["client_secret_basic", "client_secret_post"].contains(method)
        secret = wantsSecret ? said["client_secret"]?.string.flatMap { $0.isEmpty ? nil : Secret($0) } : nil
        let end = said["client_secret_expires_at"]?.boundedNumber ?? 0
        secretExpiresAt = secret == nil || end <= 0 ? nil : end
        obstacle =
            if method == "none" || secret != nil {
                nil
            } else if wantsSecret {
                OAuthError(.broken, "\(authority) requires a client secret, but issued none")
            } else {
                OAuthError(.unsupported, "\(authority) requires the application to authenticate with a key")
            }
    }
}

/// The URL and token for deleting a registration (RFC 7592, 2.3).
package struct ClientManagement: Sendable, Equatable {
    /// The client's configuration endpoint.
    package let uri: String
    /// The registration access token, which is valid only there.
    package let token: Secret

    /// Creates a value from a stored URL and token.
    package init(uri: String, token: Secret) {
        self.uri = uri
        self.token = token
    }

    /// Creates a value from an authority's answer; nil if the token would be sent to a host other than the registration
    /// endpoint's.
    init?(_ uri: String?, _ token: String?, at endpoint: String) {
        guard let uri, Endpoints.isUsable(uri), IssuerHosts.areSame(uri, endpoint),
            let token = token?.plain(limit: 4096)
        else { return nil }
        self.init(uri: uri, token: Secret(token))
    }

    /// Deletes the registration at the authority.
    ///
    /// - Throws: the reason why that failed.
    package func delete(of authority: String, over transport: Transport) async throws(OAuthError) {
        let headers = [("authorization", "Bearer \(token.reveal())")]
        var gone: Set = [404, 410]
        let answer: HTTPAnswer
        do throws(OAuthError) {
            answer = try await transport.delete(uri, headers: headers, .never)
        } catch {
            guard error.kind == .unavailable else { throw error }
            // If the first request was carried out, nobody has this token any more.
            gone.insert(401)
            answer = try await transport.delete(uri, headers: headers, .harmless)
        }
        guard (200..<300).contains(answer.status) || gone.contains(answer.status) else {
            throw OAuthError(.unsupported, "\(authority) did not remove the application (HTTP \(answer.status))")
        }
    }
}
