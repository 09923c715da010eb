import FoundationEssentials
import NIOSSL
import Secrets

/// The reason why a certificate isn't trusted.
enum CertificateFault: Sendable, Equatable {
    /// It is for these names; empty if they aren't known.
    case otherName([String])
    /// It expired on this date.
    case expired(String)
    /// It isn't valid before this date.
    case notYetValid(String)
    /// Its issuer isn't trusted.
    case unknownIssuer
    /// The certificate wasn't inspected.
    case unknown

    /// Determines why a host's certificate was rejected.
    init(_ certificate: NIOSSLCertificate, host: String, now: Date = .now) {
        let start = Date(timeIntervalSince1970: TimeInterval(certificate.notValidBefore))
        let end = Date(timeIntervalSince1970: TimeInterval(certificate.notValidAfter))
        if now > end {
            self = .expired(Self.day(end))
        } else if now < start {
            self = .notYetValid(Self.day(start))
        } else {
            self = certificate.names(host) ? .unknownIssuer : .otherName(certificate.names)
        }
    }

    private static func day(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle().year().month().day())
    }

    /// Returns this fault as an error that names the host.
    func oauthError(host: String) -> OAuthError {
        switch self {
        case .otherName(let names):
            OAuthError(
                .unavailable, "the certificate of \(host) is for another name\(Self.list(names))",
                hint: "check the authority's name, and that no proxy or network sign-in page is in between")
        case .expired(let day):
            OAuthError(
                .unavailable, "the certificate of \(host) expired on \(day)", hint: "check this computer's clock")
        case .notYetValid(let day):
            OAuthError(
                .unavailable, "the certificate of \(host) is not valid before \(day)",
                hint: "check this computer's clock")
        case .unknownIssuer: Self.untrusted(host, ": its issuer is not known here")
        case .unknown: Self.untrusted(host, "")
        }
    }

    private static func untrusted(_ host: String, _ why: String) -> OAuthError {
        OAuthError(
            .unavailable, "the certificate of \(host) is not trusted\(why)",
            hint: "if your network has a certificate authority of its own, name its file in lanyard's configuration, "
                + "above the first [[rule]], as ca-file = \"/PATH/ca.pem\"; see lanyard-config(5)")
    }

    /// Returns a colon and the certificate's first names, to append to a message.
    private static func list(_ names: [String]) -> String {
        guard !names.isEmpty else { return "" }
        return ": " + names.prefix(3).map { $0.displayable(limit: 80) }.joined(separator: ", ")
    }
}
