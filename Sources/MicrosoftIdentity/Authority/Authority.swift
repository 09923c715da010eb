import Addresses
import OAuth

/// The authority of a sign-in: an environment (its host), a tenant there and, for B2C, a policy.
///
/// It is created only from an https URL with a host and path of plain ASCII names. A query, a fragment, additional path
/// segments and a trailing slash are dropped.
package struct Authority: Sendable, Equatable {
    /// The kind of service at the URL.
    package enum Kind: String, Sendable, Equatable {
        /// Microsoft Entra ID: `/{tenant}`.
        case aad
        /// Azure AD B2C: `/tfp/{tenant}/{policy}` or `/{tenant}/{policy}`.
        case b2c
        /// Active Directory Federation Services: `/adfs`; recognised only to be rejected by name.
        case adfs
    }

    /// The accounts that the tenant of an Entra authority admits.
    package enum Audience: String, Sendable, Equatable {
        /// Work, school and personal accounts.
        case common
        /// Work and school accounts.
        case organizations
        /// Personal accounts.
        case consumers
        /// The accounts of one tenant.
        case identifier
    }

    /// The kind of service at the URL.
    package let kind: Kind
    /// The host in lower case.
    package private(set) var host: String
    /// The port; nil for 443.
    package private(set) var port: Int?
    /// The tenant's ID or domain, or an audience; lower case for Entra, unchanged for B2C.
    package private(set) var tenant: String
    /// B2C's user flow or custom policy; nil for other kinds.
    package private(set) var policy: String?
    /// Whether a B2C path starts with `tfp`.
    private let hasTrustFrameworkSegment: Bool

    /// The host that tokens are stored under, with `:port` if the port isn't 443.
    package var environment: String {
        port.map { "\(host):\($0)" } ?? host
    }

    /// The normalised URL, without a trailing slash.
    package var url: String {
        let segments = [hasTrustFrameworkSegment ? "tfp" : nil, kind == .adfs ? "adfs" : tenant, policy]
        return "https://\(environment)/" + segments.compactMap(\.self).joined(separator: "/")
    }

    /// The accounts that the tenant admits.
    package var audience: Audience {
        Audience(rawValue: tenant) ?? .identifier
    }

    /// Parses an authority's URL.
    ///
    /// - Parameters:
    ///   - text: The URL; nil or empty is `AuthorityError.missing`.
    ///   - kind: The required kind. If nil, the kind is derived from the URL as far as possible: a B2C custom domain
    ///     with a custom policy looks like Entra.
    /// - Throws: the reason why the URL is invalid.
    package init(_ text: String?, as kind: Kind? = nil) throws(AuthorityError) {
        guard let text, !text.isEmpty else { throw .missing }
        guard let address = StrictURL(web: text), address.segments.allSatisfy(\.isPathName) else { throw .malformed }
        guard address.scheme == "https" else { throw .notHTTPS }
        let found = Self.kind(of: address)
        switch kind ?? found {
        case .aad:
            guard found == .aad || (kind == .aad && address.segments.count < 3 && !address.isTrustFramework) else {
                throw .wrongKind(expected: .aad, found: found)
            }
            guard let tenant = address.segments.first else { throw .noTenant }
            self.init(.aad, at: address, tenant: tenant.lowercased(), policy: nil)
        case .b2c:
            let names = address.segments.dropFirst(address.isTrustFramework ? 1 : 0)
            guard names.count >= 2, let tenant = names.first else { throw .shortB2C }
            self.init(.b2c, at: address, tenant: String(tenant), policy: String(names[names.startIndex + 1]))
        case .adfs:
            self.init(.adfs, at: address, tenant: "adfs", policy: nil)
        }
    }

    private init(_ kind: Kind, at address: StrictURL, tenant: String, policy: String?) {
        let place = address.host.withoutOwnPort(of: "https")
        self.kind = kind
        host = place.withoutAnyPort.text
        port = place.port
        self.tenant = tenant
        self.policy = policy
        hasTrustFrameworkSegment = kind == .b2c && address.isTrustFramework
    }

    /// Returns this authority for another tenant of the same environment.
    ///
    /// - Throws: `AuthorityError.malformed` if the tenant isn't a single plain path segment.
    package func replacingTenant(_ tenant: String) throws(AuthorityError) -> Authority {
        guard tenant.isPathName else { throw .malformed }
        var authority = self
        authority.tenant = tenant
        return authority
    }

    /// Returns this B2C authority with another policy of the same tenant.
    ///
    /// - Throws: `AuthorityError.malformed` if the policy isn't a single plain path segment.
    package func replacingPolicy(_ policy: String) throws(AuthorityError) -> Authority {
        guard kind == .b2c, policy.isPathName else { throw .malformed }
        var authority = self
        authority.policy = policy
        return authority
    }

    /// Returns this authority at another host of the same environment, on the default port.
    package func replacingHost(_ host: String) -> Authority {
        var authority = self
        authority.host = host
        authority.port = nil
        return authority
    }

    private static func kind(of address: StrictURL) -> Kind {
        if address.isTrustFramework || isB2CHost(address.host.name) { return .b2c }
        if address.segments.first?.lowercased() == "adfs" { return .adfs }
        let hasPolicy = address.segments.count == 2 && address.segments[1].lowercased().hasPrefix("b2c_")
        return hasPolicy ? .b2c : .aad
    }
}

extension StrictURL {
    /// Whether the path is B2C's `/tfp/…`.
    fileprivate var isTrustFramework: Bool { segments.first?.lowercased() == "tfp" }
}

extension Authority {
    /// Whether Microsoft has assigned the host to a B2C tenant; false for a name with more than one label before the suffix.
    package static func isB2CHost(_ host: String) -> Bool {
        guard let (label, domain) = host.cut(at: ".") else { return false }
        return !label.isEmpty && ["b2clogin.com", "b2clogin.cn", "b2clogin.us", "b2clogin.de"].contains(domain)
    }
}

/// Why a URL can't be used as an authority.
package enum AuthorityError: Error, Sendable, Equatable {
    /// There is no URL.
    case missing
    /// The URL is not https.
    case notHTTPS
    /// The URL has no host, has a user name, or its host or path isn't plain ASCII.
    case malformed
    /// The URL's path is empty.
    case noTenant
    /// A B2C path without a policy.
    case shortB2C
    /// The URL is of another kind than required.
    case wrongKind(expected: Authority.Kind, found: Authority.Kind)
}

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

extension Authority {
    /// Microsoft's pre-production hosts; their issuers are accepted, but as authorities they need instance discovery.
    private static let preproduction = ["login.windows-ppe.net", "sts.windows-ppe.net", "login.microsoft-ppe.com"]

    /// Whether an authority may name the issuer in its OpenID configuration.
    ///
    /// The rules are MSAL.NET's for all authorities and MSAL Go's for aliases; https is always required.
    ///
    /// - Parameters:
    ///   - issuer: The issuer; `{tenantid}` in its path is allowed.
    ///   - authority: The authority's URL.
    ///   - aliases: The hosts of the authority's environment.
    /// - Returns: True if a rule allows it.
    package static func accepts(issuer: String, of authority: String, aliases: [String] = []) -> Bool {
        guard let named = StrictURL(https: issuer.replacing(bytes: "{tenantid}", with: "tenantid")),
            let asked = StrictURL(https: authority)
        else { return false }
        if named.hostText == asked.hostText || aliases.contains(named.hostText) { return true }
        return isMicrosofts(named.hostText) || isCustomerTenant(named, of: asked)
    }

    /// Whether the host is trusted, or is a region of a trusted host, with one label before it.
    private static func isMicrosofts(_ host: String) -> Bool {
        if isTrusted(host) { return true }
        guard let (region, rest) = host.cut(at: "."), !region.isEmpty else { return false }
        return isTrusted(String(rest))
    }

    private static func isTrusted(_ host: String) -> Bool {
        InstanceMetadata.isTrusted(host) || preproduction.contains(host)
    }

    /// Whether the issuer is `https://{tenant}.ciamlogin.com[/{tenant}[/v2.0]]` for the authority's tenant.
    private static func isCustomerTenant(_ issuer: StrictURL, of authority: StrictURL) -> Bool {
        guard let tenant = authority.segments.first?.lowercased(), issuer.hostText == "\(tenant).ciamlogin.com" else {
            return false
        }
        let path = issuer.segments.map { $0.lowercased() }
        return path.isEmpty || path == [tenant] || path == [tenant, "v2.0"]
    }
}
