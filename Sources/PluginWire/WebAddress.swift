import Addresses

/// Checks of whether a URL from outside may be opened in a browser.
///
/// They are stricter than a browser's parser on purpose: an accepted URL means the same to every parser.
package enum WebAddress {
    package enum Scheme { case https, loopbackHTTP }

    /// Returns the scheme of a URL that is safe to open; nil if it isn't safe.
    ///
    /// Other schemes, user information, backslashes and every byte outside visible ASCII are refused.
    package static func scheme(of text: String) -> Scheme? {
        guard text.utf8.allSatisfy(\.isVisibleASCII), let url = StrictURL(text), url.user == nil,
            !url.host.isIPv6 || url.host.name == "::1"
        else { return nil }
        switch url.scheme {
        case "https": return .https
        case "http": return isLoopback(url.host) ? .loopbackHTTP : nil
        default: return nil
        }
    }

    private static func isLoopback(_ host: RequestHost) -> Bool {
        ["127.0.0.1", "localhost", "::1"].contains(host.name)
    }
}

/// Host names and IPv4 addresses in the form in which they are compared: lower case, with a port if it isn't the
/// default.
package enum HostName {
    /// Whether the text is `host` or `host:port` in lower case.
    package static func isCanonical(_ text: String) -> Bool {
        guard let host = RequestHost(text), !host.isIPv6 else { return false }
        return host.text.isSame(as: text)
    }
}
