import Glibc

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

/// The proxy for each host, as libcurl chooses it by the environment, and git by its settings.
package struct ProxySettings: Sendable {
    /// Where the proxy is named, in words: a variable, or git's setting; nil if there is none.
    package let source: String?
    /// The proxy of hosts that aren't excepted; nil for none.
    package let proxy: ProxyURL?
    /// What `no_proxy` lists, in lower case; `*` alone stands for all hosts.
    private let exceptions: [String]

    /// No proxy for any host.
    package static let none = ProxySettings()

    private init() { (source, proxy, exceptions) = (nil, nil, []) }

    /// Reads `https_proxy`, `all_proxy` and `no_proxy`; of each, the lower-case name counts first, and an empty one not at all.
    ///
    /// - Parameters:
    ///   - environment: The process's environment.
    ///   - setting: git's `http.proxy`, which counts before the variables; empty for no proxy, nil if it isn't set.
    /// - Throws: where a proxy of no known kind is named: it isn't passed by.
    package init(environment: [String: String], setting: String? = nil) throws(NetworkSettingsError) {
        func variable(_ name: String) -> (name: String, value: String)? {
            [name, name.uppercased()].lazy.compactMap { name in environment[name].map { (name, $0) } }
                .first { !$0.value.isEmpty }
        }
        let list = variable("no_proxy")?.value ?? ""
        // Beside anything else, even a blank, `*` is a name that no host has.
        exceptions = list == "*" ? [list] : Self.list(list).filter { !$0.utf8.elementsEqual("*".utf8) }
        let named = setting.map { ("git's http.proxy", $0) } ?? variable("https_proxy") ?? variable("all_proxy")
        guard let (name, text) = named, !text.isEmpty else {
            (source, proxy) = (nil, nil)
            return
        }
        guard let url = ProxyURL(text) else {
            throw NetworkSettingsError(name, ProxyURL.hasWrongPort(text) ? .proxyPort : .proxy)
        }
        (source, proxy) = (name, url)
    }

    private static func list(_ text: String) -> [String] {
        text.utf8.split { " \t,".utf8.contains($0) }.map { Substring($0).lowercased() }
    }

    /// Returns the proxy for a host, which is a name, or an address with an IPv6 one's brackets; nil for none.
    package func proxy(for host: String) -> ProxyURL? {
        let excepted = exceptions == ["*"] || exceptions.contains { Self.covers($0, host.lowercased()) }
        return excepted ? nil : proxy
    }

    /// Whether an entry stands for a host: a name for itself and those below it, an address for itself or, with a mask,
    /// for its network.
    private static func covers(_ entry: String, _ host: String) -> Bool {
        guard let address = IPNetwork(host) else {
            let (host, end) = (host.withoutFinalDot, entry.withoutFinalDot)
            let name = end.hasPrefix(".") ? end.dropFirst() : end
            return !name.isEmpty && (host == name || host.hasSuffix(".\(name)"))
        }
        // A mask of no bits is none.
        let network = entry.hasSuffix("/0") ? String(entry.dropLast(2)) : entry
        return IPNetwork(network)?.contains(address) ?? false
    }
}

/// What a variable or a setting names can't be used on the way to a server.
package struct NetworkSettingsError: Error, Sendable {
    /// What is wrong with it.
    package enum Fault: Sendable, Equatable {
        /// A proxy is of no kind that libcurl knows.
        case proxy
        /// A proxy would be one without its port.
        case proxyPort
        /// A file of certificates; with words that follow its path in a sentence.
        case certificates(path: String, String)
    }

    /// What names it, in words: a variable, or git's setting.
    package let source: String
    /// What is wrong with it.
    package let fault: Fault

    /// Creates an error.
    package init(_ source: String, _ fault: Fault) { (self.source, self.fault) = (source, fault) }
}
