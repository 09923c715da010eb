/// The URL of a proxy of a kind that libcurl knows, as `https_proxy` or git's `http.proxy` names one.
package struct ProxyURL: Sendable, Equatable {
    /// The kinds with their ports; of a proxy of `socks4a` and `socks5h` the server's name is looked up by the proxy.
    private static let kinds = [
        "http": 1_080, "https": 443, "socks4": 1_080, "socks4a": 1_080, "socks5": 1_080, "socks5h": 1_080,
    ]

    /// The kind, a scheme in lower case.
    package let kind: String
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
    package var url: String { "\(kind)://\(place)" }
    /// The proxy in a message: the host and the port, with the kind if it isn't the usual one.
    package var text: String { kind == "http" ? place : url }

    /// Parses a URL, an HTTP proxy's if it has no scheme; nil if it is of another kind or has no host that all programs
    /// interpret alike.
    ///
    /// Everything up to the last `@` is user name and password; as in curl, a `%` that begins no escape stands for
    /// itself. What follows the host doesn't count. `socks` means `socks4` to curl and git.
    package init?(_ text: String) {
        let url = StrictURL.scheme(of: text) == nil ? "http://\(text)" : text
        guard let scheme = StrictURL.scheme(of: url) else { return nil }
        kind = scheme == "socks" ? "socks4" : scheme
        guard let usual = Self.kinds[kind] else { return nil }
        let authority = Substring(url.utf8.dropFirst("\(scheme)://".utf8.count).prefix { !$0.endsAuthority })
        var (info, place) = authority.cut(atLast: "@") ?? (nil, authority)
        // Behind a scheme, a colon without a port is as good as none.
        let endsInColon = url == text && place.hasSuffix(":")
        if endsInColon { place = place.dropLast() }
        guard let server = StrictURL("http://\(place)")?.host, !endsInColon || server.port == nil else { return nil }
        (name, port) = (server.name, server.port ?? usual)
        guard let info else {
            (user, password) = (nil, "")
            return
        }
        let (name, secret) = info.cut(at: ":") ?? (info, "")
        guard let user = name.proxyText, let password = secret.proxyText else { return nil }
        (self.user, self.password) = (user, password)
    }

    /// Whether a text that is no proxy's URL would be one without its port.
    static func hasWrongPort(_ text: String) -> Bool {
        guard let (start, port) = text.cut(atLast: ":"), !port.hasPrefix("/"), !port.hasBytes("@") else { return false }
        return ProxyURL(String(start)) != nil
    }
}

extension Substring {
    /// The user name or password, decoded; nil if it can't be one.
    fileprivate var proxyText: String? {
        percentDecodedAsByCurl.flatMap { $0.hasControlCharacter ? nil : $0 }
    }
}
