import Addresses
import OAuth

/// The issuers that an authority may name in its OpenID configuration.
///
/// The rules are MSAL.NET's for all authorities and MSAL Go's for aliases; https is always required.
package enum Issuer {
    /// Microsoft's pre-production hosts; their issuers are accepted, but as authorities they need instance discovery.
    private static let preproduction = ["login.windows-ppe.net", "sts.windows-ppe.net", "login.microsoft-ppe.com"]

    /// Whether the authority may name the issuer.
    ///
    /// - Parameters:
    ///   - issuer: The issuer; `{tenantid}` in its path is allowed.
    ///   - authority: The authority's URL.
    ///   - aliases: The hosts of the authority's environment.
    /// - Returns: True if a rule allows it.
    package static func accepts(_ issuer: String, authority: String, aliases: [String] = []) -> Bool {
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
