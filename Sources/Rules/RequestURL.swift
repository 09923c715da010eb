public import Addresses
public import Secrets

/// A URL split up as in git (credential.c): scheme, user, password, host and path, percent-decoded.
public struct RequestURL: Sendable {
    /// The scheme, lower-cased.
    public let scheme: String
    /// The host and its port.
    public let host: RequestHost
    /// The user name; nil if the URL has none.
    public let username: String?
    /// The password; nil if the URL has none.
    public let password: Secret?
    /// Everything after the host, without leading slashes; nil if there is nothing.
    public let path: String?

    /// Parses a URL.
    ///
    /// - Throws: `RequestError` if programs could disagree about its host, or if a part decodes to a control character
    ///   (CVE-2020-5260).
    public init(_ text: String) throws(RequestError) {
        guard let url = StrictURL(text) else { throw .invalid("url") }
        (scheme, host) = (url.scheme, url.host)
        username = try Self.decoded(url.user)
        password = try Self.decoded(url.password).map(Secret.init)
        let path = Substring(url.tail.utf8.drop { $0 == UInt8(ascii: "/") })
        self.path = try Self.decoded(path.isEmpty ? nil : path)
    }

    private static func decoded(_ encoded: Substring?) throws(RequestError) -> String? {
        guard let encoded else { return nil }
        guard let text = encoded.percentDecoded, !text.hasControlCharacter else { throw .invalid("url") }
        return text
    }
}

/// The reason why a request is invalid.
public enum RequestError: Error, Sendable, Equatable {
    /// The value of this key is invalid: it has control characters, or lacks a host, a scheme or a URL.
    case invalid(String)
}
