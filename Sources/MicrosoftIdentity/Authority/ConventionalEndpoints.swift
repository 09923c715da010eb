/// Where an Entra authority's endpoints are by convention; what its OpenID configuration says goes before.
package struct ConventionalEndpoints: Sendable, Equatable {
    private let base: String
    private let version: String

    /// Makes the endpoints below an authority's URL.
    ///
    /// - Parameters:
    ///   - base: the authority's URL without a trailing slash.
    ///   - version: the path segment that tells the version.
    package init(base: String, version: String = "v2.0") {
        self.base = base
        self.version = version
    }

    /// RFC 6749, 3.1; nil of an empty base, as the others.
    package var authorization: String? { url("oauth2/\(version)/authorize") }
    /// RFC 6749, 3.2.
    package var token: String? { url("oauth2/\(version)/token") }
    /// RFC 8628, 3.1.
    package var deviceAuthorization: String? { url("oauth2/\(version)/devicecode") }
    /// RFC 7517.
    package var keys: String? { url("discovery/\(version)/keys") }
    /// OpenID Connect Discovery 1.0, 4.
    package var configuration: String? { url("\(version)/.well-known/openid-configuration") }

    private func url(_ path: String) -> String? {
        base.isEmpty ? nil : "\(base)/\(path)"
    }
}
