/// Why there is no complete answer, as far as the user can act on it.
package struct HTTPError: Error, Sendable, Equatable {
    /// What went wrong.
    package enum Reason: Sendable, Equatable {
        /// The task was cancelled.
        case cancelled
        /// libcurl can't be used, for this reason.
        case library(String)
        /// libcurl was built without what the settings ask for.
        case lacking(ProxyAuthentication)
        /// The certificate that is to prove the user can't be used.
        case ownCertificate
        /// The URL or another setting can't be used.
        case invalid
        /// There is no connection to the host, or to the proxy.
        case unreachable(Obstacle)
        /// The connection was established, but the answer wasn't complete in time.
        case timedOut
        /// The connection ended before the answer was complete.
        case closed
        /// The answer is longer than is accepted.
        case tooLarge
        /// The answer isn't HTTP.
        case garbled
        /// The certificate of the host, or of the proxy, isn't accepted.
        case certificate(CertificateDefect)
        /// The host doesn't use TLS at this port.
        case withoutTLS
        /// The host has no version of TLS, or no cipher suite, that is still safe.
        case outdatedTLS
        /// The proxy doesn't connect to the host; with its status, if it is an HTTP proxy.
        case refusedByProxy(Int?)
        /// The proxy asks for a user and a password, or refuses those given.
        case proxyWantsPassword
    }

    /// Why there is no connection.
    package enum Obstacle: Sendable, Equatable {
        case unknownName
        case refused
        case noRoute
        case timedOut
        /// Another error, in the system's words if it has any.
        case other(String?)
    }

    /// What went wrong.
    package var reason: Reason
    /// The proxy that was used, as `HOST:PORT`; nil for none.
    package var proxy: String?
    /// Where that is named, in words: a variable, or git's setting.
    package var proxySource: String?
    /// Whether the failure is one of the connection to the proxy.
    package var isOfProxy = false
    /// Whether the server may have got the request, and acted on it.
    package var mayHaveArrived: Bool

    /// Creates an error.
    package init(
        _ reason: Reason, proxy: String? = nil, proxySource: String? = nil, mayHaveArrived: Bool = false
    ) {
        (self.reason, self.proxy, self.proxySource) = (reason, proxy, proxySource)
        self.mayHaveArrived = mayHaveArrived
    }
}

/// Why a certificate isn't accepted.
package enum CertificateDefect: Sendable, Equatable {
    /// It is for these names, or for none.
    case otherName([String])
    /// It expired then, in seconds since 1970; nil if that isn't known.
    case expired(Int?)
    /// It isn't valid before then, in seconds since 1970; nil if that isn't known.
    case notYetValid(Int?)
    /// Its issuer isn't known here.
    case unknownIssuer
    /// It isn't the one that is expected.
    case notPinned
    /// Another reason.
    case unknown
}
