public import Addresses
public import Secrets

/// A URL split up as in git (credential.c): scheme, user, password, host and path, percent-decoded.
///
/// Unlike in git, an escaped slash in the path isn't a slash, and the path may begin or end with one.
public struct RequestURL: Sendable {
    /// The scheme, lower-cased.
    public let scheme: String
    /// The host and its port.
    public let host: RequestHost
    /// The user name; nil if the URL has none.
    public let username: String?
    /// The password; nil if the URL has none.
    public let password: Secret?
    /// Everything after the host, without its slash, decoded by `percentDecodedPath`; nil if there is nothing.
    public let path: String?

    /// Parses a URL.
    ///
    /// - Throws: `RequestError` if programs could disagree about its host, or if a part decodes to a control character
    ///   (CVE-2020-5260).
    public init(_ text: String) throws(RequestError) {
        guard let url = StrictURL(text) else { throw .invalid("url") }
        (scheme, host) = (url.scheme, url.host)
        username = try url.user.map(Self.decoded)
        password = try url.password.map(Self.decoded).map(Secret.init)
        let tail = url.tail.utf8.first == UInt8(ascii: "/") ? Substring(url.tail.utf8.dropFirst()) : url.tail
        path = try tail.isEmpty ? nil : Self.plain(tail.percentDecodedPath)
    }

    private static func decoded(_ encoded: Substring) throws(RequestError) -> String {
        try plain(encoded.percentDecoded)
    }

    private static func plain(_ text: String?) throws(RequestError) -> String {
        guard let text, !text.hasControlCharacter else { throw .invalid("url") }
        return text
    }
}

/// The reason why a request is invalid.
public enum RequestError: Error, Sendable, Equatable {
    /// The value of this key is invalid: it has control characters, or lacks a host, a scheme or a URL.
    case invalid(String)
}
