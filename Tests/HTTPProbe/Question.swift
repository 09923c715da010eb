/// What a test wants the probe to do.
package struct Question: Codable, Sendable {
    /// Whom the request goes to, which decides what it is sent with.
    package enum Peer: String, Codable, Sendable {
        /// A server on the network, by ``HTTPClient``.
        case server
        /// An authority, with the errors that users see.
        case authority
        /// A service of the machine, without TLS and proxies.
        case machine
        /// Nobody: the answer names the proxy only.
        case nobody
    }

    package var peer = Peer.server
    package var method = "GET"
    package var url: String
    /// Names and values in turn.
    package var headers: [String] = []
    package var body: String?
    /// How often the request is sent, one after the other.
    package var times = 1
    /// Whether git is asked for the way to the URL; what follows isn't used then.
    package var asksGit = false
    package var caFiles: [String] = []
    package var proxy: String?
    package var proxyAuthentication: String?
    package var needsTLS13 = false
    /// The bundle of the system's certificates; nil if it has none.
    package var bundle: String?
    /// The limits, in seconds.
    package var connect = 10.0
    package var whole = 30.0

    package init(_ url: String, caFiles: [String] = []) { (self.url, self.caFiles) = (url, caFiles) }
}

/// What came of it.
package struct Reply: Codable, Sendable {
    /// Who made libcurl's TLS.
    package var library = ""
    package var status: Int?
    /// Names and values in turn.
    package var headers: [String] = []
    package var body = ""
    /// Why there is no answer, as ``HTTPError`` has it; or what is wrong with the settings.
    package var reason: String?
    package var isOfProxy = false
    package var mayHaveArrived = false
    /// The message and the hint for the user.
    package var message: String?
    package var hint: String?
    /// The proxy for the URL, and the setting that names it.
    package var proxy: String?
    package var source: String?
    /// The seconds that the last request took, and those from SIGUSR1 to its end.
    package var seconds = 0.0
    package var secondsToCancel: Double?
    /// By how much the process's memory grew at most, in KiB.
    package var growth = 0

    package init() {}
}
