import Addresses

/// Host names and IPv4 addresses in the form in which they are compared: lower case, with a port if it isn't the
/// default.
package enum HostName {
    /// Whether the text is `host` or `host:port` in lower case.
    package static func isCanonical(_ text: String) -> Bool {
        guard let host = RequestHost(text), !host.isIPv6 else { return false }
        return host.text.isSame(as: text)
    }
}
