import FoundationEssentials
import Secrets

/// The redirect URI of a sign-in.
struct RedirectTarget: Sendable, Equatable {
    /// The URI as registered, without the port that lanyard chooses.
    private let text: String
    /// The port; nil if lanyard may choose one.
    let port: Int?
    /// The path of the response.
    let path: String
    /// Whether lanyard can listen at the URI; if not, the user must paste the final URL.
    let isLoopback: Bool

    private init(text: String, port: Int?, path: String, isLoopback: Bool) {
        self.text = text
        self.port = port
        self.path = path
        self.isLoopback = isLoopback
    }

    /// Parses a redirect URI.
    ///
    /// - Throws: `unusableRedirect` if it isn't an absolute URI, or is an `http` URI of another computer.
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

    /// Returns the URI to send for a listener on this port.
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
