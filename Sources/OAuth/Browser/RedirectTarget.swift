import FoundationEssentials
import Secrets

/// Where the authority sends the browser back to.
struct RedirectTarget: Sendable, Equatable {
    /// The URI as registered, without a port of ours.
    private let text: String
    /// The port, if it is fixed.
    let port: Int?
    /// The path that answers come to.
    let path: String
    /// Whether a listener of ours can be there; else only a pasted address helps.
    let isLoopback: Bool

    private init(text: String, port: Int?, path: String, isLoopback: Bool) {
        self.text = text
        self.port = port
        self.path = path
        self.isLoopback = isLoopback
    }

    /// Reads a redirect URI.
    ///
    /// - Throws: `unusableRedirect` if it is no absolute URI, or an `http` one that leaves this computer.
    init(_ text: String) throws(OAuthError) {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased() else {
            throw Self.unusable(text)
        }
        let isLocal = ["localhost", "127.0.0.1", "[::1]"].contains(parts.encodedHost?.lowercased() ?? "")
        guard scheme != "http" || isLocal, parts.fragment == nil else { throw Self.unusable(text) }
        let path = parts.percentEncodedPath
        self.init(
            text: text, port: parts.port, path: path.isEmpty ? "/" : path, isLoopback: scheme == "http" && isLocal)
    }

    /// The URI to send, for a listener at the port.
    func uri(port actual: Int?) -> String {
        guard port == nil, isLoopback, let actual, var parts = URLComponents(string: text) else { return text }
        parts.port = actual
        return parts.string ?? text
    }

    private static func unusable(_ text: String) -> OAuthError {
        OAuthError(
            .unusableRedirect, "the redirect URI \(text.displayable(limit: 200)) cannot be used",
            hint: "use http://127.0.0.1 or http://localhost, as it is registered for the application")
    }
}
