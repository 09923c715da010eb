/// What a sandbox is known by; making it takes longer than anything else it does before it serves.
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
