import Addresses
import AsyncHTTPClient

/// The proxy for each host, from `https_proxy` and `no_proxy`, as in curl.
struct ProxySettings: Sendable {
    private let url: ProxyURL?
    private let exceptions: [String]

    /// Reads the variables; a lower-case name takes precedence over the upper-case one.
    ///
    /// - Parameter environment: The process's environment.
    /// - Throws: `invalidRequest` if the proxy isn't `http://`, the only supported kind.
    init(environment: [String: String]) throws(OAuthError) {
        func variable(_ name: String) -> (name: String, value: String)? {
            [name, name.uppercased()].lazy.compactMap { name in environment[name].map { (name, $0) } }
                .first { !$0.value.isEmpty }
        }
        exceptions = (variable("no_proxy")?.value ?? "").pieces(between: ",").map { entry in
            entry.trimmed().lowercased()
        }
        guard let (name, text) = variable("https_proxy") else {
            url = nil
            return
        }
        guard let url = ProxyURL(text) else {
            throw OAuthError(
                .invalidRequest, "the proxy that \(name) names cannot be used", hint: "set \(name) to http://HOST:PORT")
        }
        self.url = url
    }

    /// The proxy for hosts that aren't exempt.
    var proxy: HTTPClient.Configuration.Proxy? {
        url.map { url in
            let authorization = url.user.map { HTTPClient.Authorization.basic(username: $0, password: url.password) }
            return .server(host: url.name, port: url.port, authorization: authorization)
        }
    }

    /// The proxy as `HOST:PORT`, without the password that its URL may contain.
    var name: String? { url?.place }

    /// Whether requests to the host bypass the proxy.
    func excepts(host: String, port: Int) -> Bool {
        exceptions.contains { entry in
            if entry == "*" { return true }
            let name = entry.hasSuffix(":\(port)") ? String(entry.dropLast("\(port)".count + 1)) : entry
            let suffix = name.hasPrefix(".") ? name : ".\(name)"
            return !name.isEmpty && (host == name || ".\(host)".hasSuffix(suffix))
        }
    }
}
