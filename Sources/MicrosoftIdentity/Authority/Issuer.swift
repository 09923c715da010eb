import Addresses
import OAuth

/// Which issuers an authority may name in its OpenID configuration.
///
/// MSAL.NET's rules for any authority, MSAL Go's rule about aliases, and https always.
package enum Issuer {
    /// Microsoft's hosts of before production; their issuers are taken, as authorities they need instance discovery.
    private static let preproduction = ["login.windows-ppe.net", "sts.windows-ppe.net", "login.microsoft-ppe.com"]

    /// Whether the authority may name the issuer.
    ///
    /// - Parameters:
    ///   - issuer: the issuer; `{tenantid}` in its path is allowed.
    ///   - authority: the authority's URL.
    ///   - aliases: the hosts of the authority's environment.
    /// - Returns: true if a rule allows it.
    package static func accepts(_ issuer: String, authority: String, aliases: [String] = []) -> Bool {
        guard let named = try? HTTPSAddress(issuer.replacing(bytes: "{tenantid}", with: "tenantid")),
            let asked = try? HTTPSAddress(authority)
        else { return false }
        if named.environment == asked.environment || aliases.contains(named.environment) { return true }
        guard named.port == nil else { return false }
        return isMicrosofts(named.host) || isCustomerTenant(named, of: asked)
    }

    /// Whether the host is a trusted one, or a region's: one label before a trusted one.
    private static func isMicrosofts(_ host: String) -> Bool {
        if isTrusted(host) { return true }
        guard let (region, rest) = host.cut(at: "."), !region.isEmpty else { return false }
        return isTrusted(String(rest))
    }

    private static func isTrusted(_ host: String) -> Bool {
        InstanceMetadata.isTrusted(host) || preproduction.contains(host)
    }

    /// Whether the issuer is `https://{tenant}.ciamlogin.com[/{tenant}[/v2.0]]` of the authority's tenant.
    private static func isCustomerTenant(_ issuer: HTTPSAddress, of authority: HTTPSAddress) -> Bool {
        guard let tenant = authority.segments.first?.lowercased(), issuer.host == "\(tenant).ciamlogin.com" else {
            return false
        }
        let path = issuer.segments.map { $0.lowercased() }
        return path.isEmpty || path == [tenant] || path == [tenant, "v2.0"]
    }
}
