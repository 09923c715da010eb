/// What the environment and the user's settings say of the way to a server.
package struct NetworkSettings: Sendable {
    /// The variables for proxies and certificates.
    package var environment: [String: String]
    /// The places of the system's certificates.
    package var system = TrustAnchors.System.usual
    /// Files of PEM certificates to trust besides the system's.
    package var caFiles: [String] = []
    /// A folder of such files.
    package var caFolder: String?
    /// The proxy's URL, which counts before the variables; empty for none, nil if no setting names one.
    package var proxy: String?
    /// How to prove oneself to the proxy; nil for whatever it asks for.
    package var proxyAuthentication: ProxyAuthentication?
    /// The PEM file of the certificate that proves the user to the server, and that of its key; nil for none.
    package var certificate: String?
    package var certificateKey: String?
    /// Whether TLS 1.2 is too old, as everything before it always is.
    package var needsTLS13 = false

    /// Creates the settings of an environment.
    package init(environment: [String: String]) { self.environment = environment }
}

/// A way to prove oneself to a proxy, as git calls it.
package enum ProxyAuthentication: String, Sendable {
    case basic, digest, negotiate, ntlm

    /// The bits that stand for it in CURLOPT_PROXYAUTH, and in what libcurl says that it was built with; the latter 0 if
    /// it always has it.
    var bits: (option: Int, feature: CInt) {
        switch self {
        case .basic: (0x1, 0)
        case .digest: (0x2, 0)
        case .negotiate: (0x4, 1 << 8)
        case .ntlm: (0x8, 1 << 4)
        }
    }

    /// All of them: the proxy says which it takes.
    static let all = 0xF
}
