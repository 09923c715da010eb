import Addresses
import Rules
import Secrets
import Terminal

// URLs as people type them, perhaps without their scheme.

extension String {
    /// The URL with `https` if nothing else is said; nil for a scheme that lacks its colon, which is no host.
    fileprivate var withScheme: String? {
        guard StrictURL.scheme(of: self) == nil else { return self }
        let host = pieces(between: "/", maxSplits: 1, omittingEmpty: false).first.map { $0.lowercased() }
        return ["http", "https"].contains(host) ? nil : withHTTPS
    }

    /// A URL with `https` for its scheme.
    fileprivate var overHTTPS: String {
        StrictURL.scheme(of: self).map { "https" + String(decoding: utf8.dropFirst($0.utf8.count), as: UTF8.self) }
            ?? self
    }
}

extension String {
    /// The URL that a person means, with its scheme.
    var asWholeURL: String {
        get throws(Failure) {
            guard let whole = withScheme, (try? RequestURL(whole)) != nil else { throw Failure(notURL: self) }
            return whole
        }
    }
}

extension CredentialRequest {
    /// What git would ask for a URL.
    init(url: String) throws(Failure) {
        guard let whole = url.withScheme, let parsed = try? RequestURL(whole) else { throw Failure(notURL: url) }
        self.init(parsed)
    }
}

extension URLPattern {
    /// Its scheme and host alone.
    var place: String { "\(scheme)://\(host.urlText)" }

    /// Whether tokens may be sent to its places.
    var isTokenPlace: Bool { request.isTokenPlace }

    /// Refuses a rule for places that no token may be sent to.
    func requireTokenPlace() throws(Failure) {
        guard !isTokenPlace else { return }
        let shown = text.displayable(limit: 200)
        throw Failure("\(shown): \(Failure.unencrypted(scheme))", hints: [.overHTTPS(text)], status: .usage)
    }

    /// Refuses places that git asks no helper about.
    func requireGitPlace() throws(Failure) {
        guard ["ssh", "git", "file", "git+ssh", "ssh+git"].contains(scheme) else { return }
        throw Failure(
            "git asks no helper about \(scheme) URLs", hints: ["use the server's https URL"],
            status: .usage)
    }
}

extension CredentialRequest {
    /// Whether a token may be sent there: the connection is encrypted, or becomes so before anybody signs in.
    var isTokenPlace: Bool {
        guard let scheme, let host else { return true }
        return ["https", "imap", "imaps", "smtp", "smtps"].contains(scheme) || scheme == "http" && host.isThisMachine
    }
}

extension RequestHost {
    /// Whether it is this machine by one of its fixed names.
    var isThisMachine: Bool { ["localhost", "127.0.0.1", "::1"].contains(name) }
}

extension Hint {
    /// The same place, if its server speaks https.
    static func overHTTPS(_ url: String) -> Hint { Hint("if the server has https, write", write: url.overHTTPS) }
}

extension URLPattern {
    /// The pattern that a person means by a URL.
    init(typed url: String) throws(Failure) {
        guard let pattern = url.withScheme.flatMap(URLPattern.init) else { throw Failure(notURL: url) }
        // It would be written into files, and matches no request.
        guard !pattern.hasPassword else {
            throw Failure(
                "the URL contains a password, which doesn't belong in the configuration",
                hints: ["leave it out, as in \(pattern.scheme)://\(pattern.host.urlText)/…"], status: .usage)
        }
        self = pattern
    }
}

extension Failure {
    /// Why no token is sent to a URL of a scheme.
    fileprivate static func unencrypted(_ scheme: String) -> String {
        scheme == "http"
            ? "tokens are not sent over http, where others could read them" : "tokens are not sent over \(scheme)"
    }

    /// A URL that nothing maps.
    init(noRuleMaps request: CredentialRequest) {
        guard request.isTokenPlace else {
            self.init(
                "no rule maps \(request.url), and \(Self.unencrypted(request.scheme ?? ""))",
                hints: [.overHTTPS(request.url)])
            return
        }
        self.init(
            "no rule maps \(request.url)", hints: [Hint("add one", run: "lanyard rule add \(request.url)")])
    }

    /// What was typed for a URL and is none.
    fileprivate init(notURL text: String) {
        self.init(
            "\(text.displayable(limit: 200)) is not a URL", hints: ["write it like \(Example.url)"],
            status: .usage)
    }
}
