import Addresses
import AsyncHTTPClient

/// The proxy for each host, from `https_proxy`, `all_proxy` and `no_proxy`, as in git and curl.
struct ProxySettings: Sendable {
    private let url: ProxyURL?
    private let exceptions: [String]

    /// Reads the variables; a lower-case name takes precedence over the upper-case one.
    ///
    /// - Parameter environment: The process's environment.
    /// - Throws: `invalidRequest` if the proxy is of another kind than `http://` and `socks5://`: it isn't bypassed.
    init(environment: [String: String]) throws(OAuthError) {
        func variable(_ name: String) -> (name: String, value: String)? {
            [name, name.uppercased()].lazy.compactMap { name in environment[name].map { (name, $0) } }
                .first { !$0.value.isEmpty }
        }
        exceptions = (variable("no_proxy")?.value ?? "").utf8.split { " \t,".utf8.contains($0) }.map { entry in
            Substring(entry).lowercased()
        }
        guard let (name, text) = variable("https_proxy") ?? variable("all_proxy") else {
            url = nil
            return
        }
        guard let url = ProxyURL(text) else {
            throw OAuthError(
                .invalidRequest, "the proxy that \(name) names cannot be used",
                hint: "set \(name) to http://HOST:PORT or socks5h://HOST:PORT")
        }
        self.url = url
    }

    /// The proxy for hosts that aren't exempt.
    var proxy: HTTPClient.Configuration.Proxy? {
        url.map { url in
            if url.isSOCKS { return .socksServer(host: url.name, port: url.port) }
            let authorization = url.user.map { HTTPClient.Authorization.basic(username: $0, password: url.password) }
            return .server(host: url.name, port: url.port, authorization: authorization)
        }
    }

    /// The proxy as `HOST:PORT`, without the password that its URL may contain; a SOCKS proxy as a URL.
    var name: String? { url.map { $0.isSOCKS ? $0.urlForPeople : $0.place } }

    /// Whether requests to the host bypass the proxy: a name includes those below it, and an address may have a mask.
    ///
    /// Beyond curl's forms, an entry may have a port, as in Go's and Python's clients.
    func excepts(host: String, port: Int) -> Bool {
        exceptions == ["*"]
            || exceptions.contains { entry in
                let entry = entry.hasSuffix(":\(port)") ? String(entry.dropLast("\(port)".count + 1)) : entry
                // An address is below no name.
                if let address = IPNetwork(host) { return IPNetwork(entry)?.contains(address) ?? false }
                let name = String(entry.trimmed(of: "."))
                return !name.isEmpty && (host == name || host.hasSuffix(".\(name)"))
            }
    }
}
