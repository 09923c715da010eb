public import Addresses
public import Claims
import Secrets

/// What a tool needs a credential for: a place, or a token by name; the same whichever protocol it was asked by.
public struct CredentialRequest: Sendable, Equatable {
    /// The URL's scheme, lower-cased; nil if none was given.
    public var scheme: String?
    /// The URL's host and port; nil if none was given, or it is empty.
    public var host: RequestHost?
    /// The URL's path without its leading slash, with the query if there was one; nil unless the tool tells it.
    public var path: String?
    /// The user name in the URL or the request; nil if any will do.
    public var username: String?
    /// The values of the server's `WWW-Authenticate` headers, in order.
    public var wwwAuthenticate: [String] = []
    /// The fingerprint of the token that was handed out for this and that the server refused; nil for none.
    public var refusedToken: String?
    /// Whether an authorization of another scheme than a password's would do.
    public var takesAuthorizations = false
    /// Whether a credential of several parts would do, as temporary keys are.
    public var takesFields = false
    /// Where a stored password may be that answers this.
    public var reach = PathReach.place
    /// What the keyring calls a password that is stored for this, nil for git's way; of one to erase, what that begins with.
    public var label: String?
    /// Whether nobody may be asked for it, because the tool can't wait.
    public var isUnattended = false
    /// A token asked for by name.
    public var wish = TokenWish()

    /// What of a token a tool asks for by name.
    public struct TokenWish: Sendable, Equatable {
        /// The authority's URL.
        public var authority: String?
        /// The tenant, instead of the one that the authority's URL names.
        public var tenant: String?
        /// The application.
        public var clientID: String?
        /// The scopes; empty if none are named.
        public var scopes: [String] = []
        /// A user name or a home account id.
        public var account: String?
        /// Who signs in without a person, by name.
        public var identity: String?
        /// An OpenID Connect claims request.
        public var claims: String?
        /// What shapes a sign-in, as it came.
        public var signIn: [SignInParameter: [String]] = [:]

        /// Whether nothing was asked for by name.
        public var isEmpty: Bool { self == Self() }

        /// What the scope that means all of a resource's has behind the resource.
        public static let wholeResource = "/.default"

        /// The scope that means all of a resource's; a slash that the resource ends in stays, as it does for az.
        public static func scope(ofResource resource: String) -> String { resource + wholeResource }

        /// Whether the text can name a tenant: an id, or a domain.
        public static func isTenant(_ text: String) -> Bool {
            RequestHost(text).map { $0.port == nil && !$0.isIPv6 } ?? false
        }

        /// Makes an empty wish.
        public init() {}
    }

    /// Makes an empty request.
    public init() {}

    /// The request for a URL.
    public init(_ url: RequestURL) {
        (scheme, host, path, username) = (url.scheme, url.host, url.path, url.username)
    }

    /// Whether it is for the passphrase of a client certificate's key: it names the file as `path`, and no host.
    public var isCertificate: Bool { scheme == "cert" && host == nil && path?.isEmpty == false }

    /// The request's place as a URL, fit to show; nil if it names none, as a script's own may.
    public var place: String? {
        guard let scheme, let host else { return nil }
        return "\(scheme)://\(host.urlText)/\((path ?? "").percentEncodedPath)".displayable(limit: 500)
    }

    /// The request's place in a sentence.
    public var url: String { place ?? "the request" }
}
