package import JSON
package import OAuth

/// A platform's service that gives tokens: how it is asked, and what its answers mean.
package protocol TokenSource: Sendable {
    /// The platform.
    var platform: Platform { get }
    /// Its URL, which all its requests go to.
    var url: String { get }
    /// The certificate that the service has, if the platform names it.
    var pin: CertificatePin? { get }

    /// The request for a token.
    ///
    /// - Throws: `invalidRequest` if the platform has no such identities.
    func request(for demand: Demand) throws(IdentityError) -> DirectRequest

    /// The request to follow on an answer; nil if the answer is the last.
    func request(after answer: HTTPAnswer, to request: DirectRequest) throws(IdentityError) -> DirectRequest?

    /// Refuses a token that may be of another identity.
    func check(_ members: [String: JSONValue], for demand: Demand) throws(IdentityError)

    /// What the service said, in the terms that other platforms have for it.
    func translated(_ fault: Fault) -> Fault
}

extension TokenSource {
    /// None: the service has none, or one like an authority's.
    package var pin: CertificatePin? { nil }

    /// None: the first answer is the last.
    package func request(
        after answer: HTTPAnswer, to request: DirectRequest
    ) throws(IdentityError) -> DirectRequest? { nil }

    /// Takes any: the service heeds what it is asked for.
    package func check(_ members: [String: JSONValue], for demand: Demand) throws(IdentityError) {}

    /// The same.
    package func translated(_ fault: Fault) -> Fault { fault }

    /// Refuses an identity that was assigned, if the platform has none but the machine's own.
    func requireSystem(_ demand: Demand) throws(IdentityError) {
        guard demand.id != .system else { return }
        throw IdentityError(
            .invalidRequest, "\(platform.words) knows no identity but the machine's own",
            hint: "ask for the identity system; which one that is, the platform's settings say")
    }
}
