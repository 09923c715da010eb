package import Addresses
import FoundationEssentials
import HTTP
import Secrets

extension OAuthError {
    /// An error that says why a host gave no answer, and what can be done about it.
    init(_ error: HTTPError, host: String) {
        let way = error.proxy.map { " through the proxy \($0)" } ?? ""
        let proxy = error.proxy ?? ""
        let source = error.proxySource ?? "https_proxy"
        let peer = error.isOfProxy ? "the proxy \(proxy)" : host
        switch error.reason {
        case .cancelled: self = .ended
        case .library(let problem):
            self.init(
                .unavailable, "libcurl can't be used: \(problem.displayable(limit: 300))",
                hint: "sudo apt install libcurl4, sudo dnf install libcurl, or sudo pacman -S curl")
        case .lacking(let method):
            self.init(
                .unavailable, "this libcurl has no \(method.rawValue), which git's http.proxyAuthMethod asks for",
                hint: "install your distribution's libcurl with OpenSSL, or change http.proxyAuthMethod")
        case .ownCertificate:
            self.init(
                .unusableSetting, "the certificate that git's http.sslCert names can't be used",
                hint: "check http.sslCert and http.sslKey: PEM files without a password, which match")
        case .invalid:
            self.init(.invalidRequest, "\(host) can't be asked: a value has characters that HTTP doesn't allow")
        case .timedOut: self.init(.unavailable, "\(host) did not answer in time\(way)", hint: "check the network")
        case .closed: self.init(.unavailable, "\(host) closed the connection before its answer was complete")
        case .tooLarge: self.init(.unavailable, "\(host) sent an answer that is too long")
        case .garbled: self = .unreadable(from: host, not: "HTTP")
        case .certificate(let problem):
            let hint =
                switch problem {
                case .otherName where error.isOfProxy: "check \(source)"
                case .otherName: "check the authority's name, and that no proxy or network sign-in page is in between"
                case .expired, .notYetValid: "check this computer's clock"
                case .unknownIssuer, .notPinned, .unknown: Self.namingAuthority
                }
            self.init(.unavailable, "the certificate of \(peer) \(problem.words)", hint: hint)
        case .withoutTLS:
            self.init(
                .unavailable, "\(peer) does not speak TLS at this port",
                hint: error.isOfProxy
                    ? "set \(source) to http://HOST:PORT"
                    : "check the authority's URL, and that no network sign-in page is in between")
        case .outdatedTLS:
            self.init(
                .unavailable, "\(peer) offers only encryption that is no longer safe, so nothing was sent to it\(way)",
                hint: "its administrator has to enable TLS 1.3, or TLS 1.2 with ECDHE and AES-GCM or ChaCha20")
        case .refusedByProxy(let status):
            let words = status.map { " (HTTP \($0))" } ?? ""
            self.init(
                .unavailable, "the proxy \(proxy) refused to connect to \(host)\(words)",
                hint: "check \(source) and no_proxy")
        case .proxyWantsPassword:
            self.init(
                .unavailable, "the proxy \(proxy) asks for a user name and password, or refuses those given",
                hint: "set \(source) to http://USER:PASSWORD@HOST:PORT")
        case .unreachable(let obstacle) where error.isOfProxy:
            self.init(
                .unavailable, "cannot reach \(host): no connection to the proxy \(proxy)\(obstacle.words)",
                hint: "check \(source) and no_proxy")
        case .unreachable(let obstacle):
            let isName = obstacle == .unknownName
            self.init(
                .unavailable, "cannot reach \(host)\(obstacle.words)",
                hint: isName ? "check the authority's name and the network" : "check the network")
        }
    }

    private static let namingAuthority =
        "if your network has a certificate authority of its own, name its file in lanyard's configuration, "
        + "above the first [[rule]], as ca-file = \"/PATH/ca.pem\"; see lanyard-config(5)"
}

extension CertificateDefect {
    /// What follows the certificate in a sentence.
    fileprivate var words: String {
        switch self {
        case .otherName(let names):
            "is for another name" + (names.isEmpty ? "" : ": ")
                + names.prefix(3).map { $0.displayable(limit: 80) }.joined(separator: ", ")
        case .expired(let end): "expired" + (end.map { " on \(Self.day($0))" } ?? "")
        case .notYetValid(let begin): "is not valid " + (begin.map { "before \(Self.day($0))" } ?? "yet")
        case .unknownIssuer: "is not trusted: its issuer is not known here"
        case .notPinned, .unknown: "is not trusted"
        }
    }

    private static func day(_ time: Int) -> String {
        Date(timeIntervalSince1970: TimeInterval(time)).formatted(Date.ISO8601FormatStyle().year().month().day())
    }
}

extension HTTPError.Obstacle {
    fileprivate var words: String {
        switch self {
        case .unknownName: ": no such host"
        case .refused: ": connection refused"
        case .noRoute: ": no route to it"
        case .timedOut: ": the connection timed out"
        case .other(let words): words.map { ": \($0.displayable(limit: 300))" } ?? ""
        }
    }
}

extension OAuthError {
    /// An error that says which setting can't be used.
    package init(_ error: NetworkSettingsError) {
        let source = error.source
        switch error.fault {
        case .certificates(let path, let fault):
            self.init(
                .unusableSetting, "\(path.displayable()) \(fault)",
                hint: "make \(source) name a readable file of PEM certificates")
        case .proxy, .proxyPort:
            let fault = error.fault == .proxyPort ? "has a port that can't be one" : "cannot be used"
            self.init(
                .unusableSetting, "the proxy that \(source) names \(fault)",
                hint: "set \(source) to http://HOST:PORT or socks5h://HOST:PORT")
        }
    }
}
