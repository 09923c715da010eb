public import Addresses
public import Claims
public import Secrets

/// A tool's request for a credential, for a place or for a token by name; the same for all protocols.
public struct CredentialRequest: Sendable, Equatable {
    /// The URL's scheme, lower-cased; nil if there is none.
    public var scheme: String?
    /// The URL's host and port; nil if there is none, or it is empty.
    public var host: RequestHost?
    /// The URL's path without its leading slash, with the query if there is one; nil if the tool doesn't send it.
    public var path: String?
    /// The user name in the URL or the request; nil if any will do.
    public var username: String?
    /// The values of the server's `WWW-Authenticate` headers, in order.
    public var wwwAuthenticate: [String] = []
    /// The fingerprint of the token that was handed out for this request and that the server refused; nil for none.
    public var refusedToken: String?
    /// Whether an authorization for another scheme than a password's is accepted.
    public var takesAuthorizations = false
    /// Whether the tool accepts and stores passwords of several lines.
    public var takesLines = false
    /// Whether a credential with several parts is accepted, such as temporary keys.
    public var takesFields = false
    /// Where a stored password that answers the request may be.
    public var reach = PathReach.place
    /// The label of a password to store, nil for git's own; the prefix of the label of passwords to erase.
    public var label: String?
    /// Whether the user can't be asked, because the tool can't wait.
    public var isUnattended = false
    /// The token that was requested by name.
    public var explicit = ExplicitToken()

    /// The parts of a token that a tool requests by name.
    public struct ExplicitToken: Sendable, Equatable {
        /// The authority's URL.
        public var authority: String?
        /// The tenant to use instead of the one in the authority's URL.
        public var tenant: String?
        /// The application's client ID.
        public var clientID: String?
        /// Which token of the sign-in is meant; nil for the rule's.
        public var token: TokenRequest.Kind?
        /// The name of that token.
        public var tokenName: String? {
            get { token?.rawValue }
            set { token = newValue.flatMap(TokenRequest.Kind.init) }
        }
        /// The scopes; empty if there are none.
        public var scopes: [String] = []
        /// The account's user name or home account ID.
        public var account: String?
        /// The name of the identity that signs in without a user.
        public var identity: String?
        /// An OpenID Connect claims request.
        public var claims: String?
        /// The parameters of a sign-in, not yet validated.
        public var signIn: [SignInParameter: [String]] = [:]

        /// Whether nothing was requested by name.
        public var isEmpty: Bool { self == Self() }

        /// The suffix that turns a resource into the scope for all of its permissions.
        public static let wholeResource = "/.default"

        /// Returns the scope for all of a resource's permissions; a trailing slash of the resource stays, as in az.
        public static func scope(ofResource resource: String) -> String {
            resource.utf8.reversed().starts(with: wholeResource.utf8.reversed()) ? resource : resource + wholeResource
        }

        /// Whether the text can be a tenant: an ID or a domain.
        public static func isTenant(_ text: String) -> Bool {
            RequestHost(text).map { $0.port == nil && !$0.isIPv6 } ?? false
        }

        /// Creates an empty value.
        public init() {}
    }

    /// Creates an empty request.
    public init() {}

    /// Creates the request for a URL.
    public init(_ url: RequestURL) {
        (scheme, host, path, username) = (url.scheme, url.host, url.path, url.username)
    }

    /// Whether it is for the passphrase of a client certificate's key: `path` is the file, and there is no host.
    public var isCertificate: Bool { scheme == "cert" && host == nil && path?.isEmpty == false }

    /// Whether a token may be sent there: the connection is encrypted from the start, or before anybody signs in.
    public var isTokenPlace: Bool {
        guard let scheme, let host else { return true }
        return ["https", "imap", "imaps", "smtp", "smtps"].contains(scheme) || scheme == "http" && host.isThisMachine
    }

    /// The request's place as a displayable URL; nil if it has none, as a script's own request may.
    public var place: String? {
        guard let scheme, let host else { return nil }
        return "\(scheme)://\(host.urlText)/\((path ?? "").percentEncodedPath)".displayable(limit: 500)
    }

    /// The request's place, for use in a sentence.
    public var url: String { place ?? "the request" }
}

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
    /// - Throws: `ProtocolError` if programs could disagree about its host, or if a part decodes to a control character
    ///   (CVE-2020-5260).
    public init(_ text: String) throws(ProtocolError) {
        guard let url = StrictURL(text) else { throw .invalid("url") }
        (scheme, host) = (url.scheme, url.host)
        username = try url.user.map(Self.decoded)
        password = try url.password.map(Self.decoded).map(Secret.init)
        let tail = url.tail.utf8.first == UInt8(ascii: "/") ? Substring(url.tail.utf8.dropFirst()) : url.tail
        path = try tail.isEmpty ? nil : Self.plain(tail.percentDecodedPath)
    }

    private static func decoded(_ encoded: Substring) throws(ProtocolError) -> String {
        try plain(encoded.percentDecoded)
    }

    private static func plain(_ text: String?) throws(ProtocolError) -> String {
        guard let text, !text.hasControlCharacter else { throw .invalid("url") }
        return text
    }
}
