/// The conventional endpoints of an Entra authority; its OpenID configuration takes precedence.
package struct ConventionalEndpoints: Sendable, Equatable {
    private let base: String
    private let version: String

    /// Creates the endpoints below an authority's URL.
    ///
    /// - Parameters:
    ///   - base: The authority's URL without a trailing slash.
    ///   - version: The path segment with the version.
    package init(base: String, version: String = "v2.0") {
        self.base = base
        self.version = version
    }

    /// The authorization endpoint (RFC 6749, 3.1); nil for an empty base, like the others.
    package var authorization: String? { url("oauth2/\(version)/authorize") }
    /// The token endpoint (RFC 6749, 3.2).
    package var token: String? { url("oauth2/\(version)/token") }
    /// The device authorization endpoint (RFC 8628, 3.1).
    package var deviceAuthorization: String? { url("oauth2/\(version)/devicecode") }
    /// The URL of the keys (RFC 7517).
    package var keys: String? { url("discovery/\(version)/keys") }
    /// The URL of the OpenID configuration (OpenID Connect Discovery 1.0, 4).
    package var configuration: String? { url("\(version)/.well-known/openid-configuration") }

    private func url(_ path: String) -> String? {
        base.isEmpty ? nil : "\(base)/\(path)"
    }
}
