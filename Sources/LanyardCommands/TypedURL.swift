import Addresses
import Rules
import Secrets
import Terminal

// URLs as people type them, perhaps without their scheme.

extension String {
    /// The URL with `https` if nothing else is said.
    var withScheme: String { StrictURL.scheme(of: self) == nil ? "https://\(self)" : self }
}

extension CredentialRequest {
    /// What git would ask for a URL.
    init(url: String) throws(Failure) {
        do { self.init(try RequestURL(url.withScheme)) } catch { throw Failure(notURL: url) }
    }
}

extension Session {
    /// The pattern that a person means by a URL.
    func pattern(_ url: String) throws(Failure) -> URLPattern { try URLPattern(typed: url) }
}

extension URLPattern {
    /// The pattern that a person means by a URL.
    init(typed url: String) throws(Failure) {
        guard let pattern = URLPattern(url.withScheme) else { throw Failure(notURL: url) }
        // It would be written into files, and matches no request.
        guard !pattern.hasPassword else {
            throw Failure(
                "the URL holds a password, which has no place in the configuration",
                hints: ["leave it out, as in \(pattern.scheme)://\(pattern.host.urlText)/…"], status: .usage)
        }
        self = pattern
    }
}

extension Failure {
    /// What was typed for a URL and is none.
    fileprivate init(notURL text: String) {
        self.init(
            "\(text.displayable(limit: 200)) is not a URL", hints: ["write it like \(Example.url)"],
            status: .usage)
    }
}
