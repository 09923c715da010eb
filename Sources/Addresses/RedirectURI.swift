/// An application's redirect URI: http to this computer, where lanyard can listen (RFC 8252, 7.3), or https, from where
/// the user must paste the final URL.
package struct RedirectURI: Sendable {
    private let text: String
    private let url: StrictURL

    /// Whether lanyard can listen at the URI.
    package var isLoopback: Bool { url.isLoopbackHTTP }
    /// The port to listen at; nil if lanyard may choose one, or can't listen at the URI.
    package var port: Int? { isLoopback ? url.host.port : nil }
    /// The path of the response.
    package var path: String { url.path.isEmpty ? "/" : String(url.path) }

    /// Parses a redirect URI; nil if it has a fragment (RFC 6749, 3.1.2), or leads to another computer over http.
    package init?(_ text: String) {
        guard let url = StrictURL(web: text), !url.hasFragment, url.scheme == "https" || url.isLoopbackHTTP else {
            return nil
        }
        (self.text, self.url) = (text, url)
    }

    /// Returns the URI to send for a listener on this port: as registered, with the port if the URI has none.
    package func text(listeningAt port: Int?) -> String {
        guard let port, isLoopback, self.port == nil else { return text }
        return "http://\(url.host.urlText):\(port)\(url.tail)"
    }
}
