/// The keys and certificates of a sandbox; creating them takes most of its start-up time.
struct Trust: Sendable {
    let key: SigningKey
    let certificates: Certificates
    let applicationCertificate: ApplicationCertificate

    init() async throws {
        key = try await SigningKey()
        certificates = try Certificates()
        applicationCertificate = try await ApplicationCertificate()
    }
}
