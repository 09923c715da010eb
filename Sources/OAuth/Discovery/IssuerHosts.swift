import Addresses
import Secrets

/// The hosts that belong to an issuer: its own, and those that the configuration or a plugin's manifest names.
///
/// An issuer's document can name any host. A page or an endpoint at another one may be another issuer's, whose codes
/// and tokens this one would then get (RFC 9700, 2.1 and 4.4).
package struct IssuerHosts: Sendable, Equatable {
    private let names: Set<String>

    /// Creates the hosts from the issuer's URL and other URLs that are known to be its own, and from named hosts, each
    /// with `:port` if the port isn't 443.
    package init(of urls: [String], named hosts: [String] = []) {
        names = Set(urls.compactMap(Self.host) + hosts.compactMap { Self.host("https://\($0)") })
    }

    /// Whether a URL is at one of the hosts.
    package func contain(_ url: String) -> Bool { Self.host(url).map(names.contains) ?? false }

    /// Whether URLs are all at one host, whichever it is.
    package static func areSame(_ urls: String...) -> Bool {
        let hosts = Set(urls.map(host))
        return hosts.count == 1 && !hosts.contains(nil)
    }

    static func host(_ url: String) -> String? { StrictURL(https: url)?.host.withoutOwnPort(of: "https").text }
}

extension IssuerMetadata {
    /// Checks that what a sign-in yields can only be this issuer's, and goes to no other one.
    ///
    /// A host that nobody named is accepted only if answers prove their issuer: those of the page by `iss` (RFC 9207),
    /// or the tokens by an ID token, if no other host gets the page's code.
    ///
    /// - Throws: `untrusted`, with the way to name the host.
    package func check(at hosts: IssuerHosts) throws(OAuthError) {
        guard !namesIssuer else { return }
        if let page = endpoints.authorization, !hosts.contain(page) {
            guard isOpenID, IssuerHosts.areSame(page, endpoints.token) else {
                throw .foreign(page, "a sign-in page", named: issuer)
            }
        }
        guard hosts.contain(endpoints.token) || isOpenID else {
            throw .foreign(endpoints.token, "a token endpoint", named: issuer)
        }
    }
}

extension DeviceAuthorization {
    /// Checks that the user isn't led to another issuer's page, where they would let in whoever requested the code.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint that returned the code.
    ///   - client: The client that requested it.
    /// - Throws: `untrusted`, with the way to name the host.
    func check(from endpoint: String, for client: OAuthClient) throws(OAuthError) {
        guard let hosts = client.hosts else { return }
        let token = client.endpoints.token
        guard
            hosts.contain(verificationURI)
                || client.provesIssuer && IssuerHosts.areSame(verificationURI, endpoint, token)
        else { throw .foreign(verificationURI, "a page for its code", named: "https://\(client.authority)") }
        guard hosts.contain(token) || client.provesIssuer else {
            throw .foreign(token, "a token endpoint", named: "https://\(client.authority)")
        }
    }
}

extension OAuthError {
    /// Creates the error for a page or an endpoint that may be another issuer's.
    package static func foreign(_ url: String, _ what: String, named issuer: String) -> OAuthError {
        let (host, own) = (shown(url), shown(issuer))
        return OAuthError(
            .untrusted,
            "\(own) names \(what) at another host, \(host), and nothing proves that the answers are for \(own)",
            hint:
                "if you know that \(host) belongs to \(own), write that into the rule: issuer-hosts = [\"\(host)\"]; "
                + "see lanyard-config(5)")
    }

    private static func shown(_ url: String) -> String { IssuerHosts.host(url) ?? url.displayable(limit: 200) }
}
