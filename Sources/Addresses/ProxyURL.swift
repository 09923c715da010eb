/// The URL of a proxy, as `https_proxy` or `ALL_PROXY` names one to curl: `http://`, which may be missing, or `socks5://`.
package struct ProxyURL: Sendable {
    /// Whether it is a SOCKS proxy (RFC 1928), which gets the server's name and no password.
    package let isSOCKS: Bool
    /// The host's name or address.
    package let name: String
    /// The port; curl's own for proxies if the URL has none.
    package let port: Int
    /// The user name, decoded; nil if the URL has none.
    package let user: String?
    /// The password, decoded; empty if the URL has none.
    package let password: String

    /// The host and the port; never the password.
    package var place: String { RequestHost(name: name, port: port).text }
    /// The URL without the password.
    package var urlForPeople: String { "\(isSOCKS ? "socks5h" : "http")://\(place)" }

    /// Parses a URL; nil if it is of another scheme or has no host that all programs interpret alike.
    ///
    /// Everything up to the last `@` is user name and password; as in curl, a `%` that begins no escape stands for
    /// itself. What follows the host doesn't count.
    package init?(_ text: String) {
        let url = StrictURL.scheme(of: text) == nil ? "http://\(text)" : text
        guard let scheme = StrictURL.scheme(of: url), ["http", "socks5", "socks5h"].contains(scheme) else { return nil }
        isSOCKS = scheme != "http"
        let authority = Substring(url.utf8.dropFirst("\(scheme)://".utf8.count).prefix { !$0.endsAuthority })
        let (info, place) = authority.cut(atLast: "@") ?? (nil, authority)
        guard let server = StrictURL("http://\(place)")?.host else { return nil }
        (name, port) = (server.name, server.port ?? 1_080)
        guard let info else {
            (user, password) = (nil, "")
            return
        }
        guard !isSOCKS else { return nil }
        let (name, secret) = info.cut(at: ":") ?? (info, "")
        guard let user = name.proxyText, let password = secret.proxyText else { return nil }
        (self.user, self.password) = (user, password)
    }
}

extension Substring {
    /// The user name or password, decoded; nil if it can't be one.
    fileprivate var proxyText: String? {
        percentDecodedAsByCurl.flatMap { $0.hasControlCharacter ? nil : $0 }
    }
}
