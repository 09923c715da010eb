public import Addresses
public import Secrets

/// A URL cut up as git cuts one (credential.c): scheme, user, password, host and path, percent-decoded.
public struct RequestURL: Sendable {
    /// The scheme, lower-cased.
    public let scheme: String
    /// The host and its port.
    public let host: RequestHost
    /// The user; nil if the URL names none.
    public let username: String?
    /// The password; nil if the URL holds none.
    public let password: Secret?
    /// All after the host, without slashes at its start; nil if there is nothing.
    public let path: String?

    /// Reads a URL.
    ///
    /// - Throws: `RequestError` if programs could disagree about its host, or a part decodes to a control character
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

/// What makes a request unusable.
public enum RequestError: Error, Sendable, Equatable {
    /// The value of this key cannot be what the key says: control characters, or no host, scheme or URL.
    case invalid(String)
}
