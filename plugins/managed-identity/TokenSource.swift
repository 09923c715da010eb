package import HTTP
package import JSON

/// A platform's token service: its requests, and the meaning of its answers.
package protocol TokenSource: Sendable {
    /// The platform that the service belongs to.
    var platform: Platform { get }
    /// The URL for all its requests.
    var url: String { get }
    /// The service's certificate, if the platform specifies it.
    var pin: CertificatePin? { get }

    /// Returns the request for a token.
    ///
    /// - Throws: `invalidRequest` if the platform doesn't support this identity.
    func request(for demand: Demand) throws(IdentityError) -> PlatformRequest

    /// Returns the next request after an answer; nil if the answer is final.
    func request(after answer: HTTPAnswer, to request: PlatformRequest) throws(IdentityError) -> PlatformRequest?

    /// Rejects a token that may belong to another identity.
    func check(_ members: [String: JSONValue], for demand: Demand) throws(IdentityError)

    /// Converts the service's error to the terms of the other platforms.
    func translated(_ fault: Fault) -> Fault
}

extension TokenSource {
    /// By default, there is none: the service uses no TLS, or is validated like an authority.
    package var pin: CertificatePin? { nil }

    /// By default, the first answer is final.
    package func request(
        after answer: HTTPAnswer, to request: PlatformRequest
    ) throws(IdentityError) -> PlatformRequest? { nil }

    /// By default, any token is accepted: the service returns the requested identity's.
    package func check(_ members: [String: JSONValue], for demand: Demand) throws(IdentityError) {}

    /// By default, the error stays unchanged.
    package func translated(_ fault: Fault) -> Fault { fault }

    /// Rejects user-assigned identities, for platforms that support only the system-assigned one.
    func requireSystem(_ demand: Demand) throws(IdentityError) {
        guard demand.id != .system else { return }
        throw IdentityError(
            .invalidRequest, "\(platform.words) knows no identity but the machine's own",
            hint: "ask for the identity system; which one that is, the platform's settings say")
    }
}
