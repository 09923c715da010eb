import FoundationEssentials

/// Where a sandbox serves and whom it knows, as it says itself once it serves.
package struct SandboxDescription: Decodable, Sendable {
    /// The authority's URL.
    package let authority: String
    /// The URL of the resources.
    package let resource: String
    /// The file with the certificate to trust.
    package let caFile: String
    /// What opens the control interface.
    package let controlToken: String
    /// The application of workforce tenants.
    package let clientID: String
    /// The application of the B2C tenant.
    package let b2cClientID: String

    private enum CodingKeys: String, CodingKey {
        case authority, resource
        case caFile = "ca_file"
        case controlToken = "control_token"
        case clientID = "client_id"
        case b2cClientID = "b2c_client_id"
    }

    /// Waits until the sandbox that was started in a folder serves.
    ///
    /// - Throws: `SandboxDidNotStart` after a minute.
    package init(at folder: String) async throws {
        for _ in 0..<1200 {
            if let file = FileManager.default.contents(atPath: folder + "/sandbox.json"),
                let description = try? JSONDecoder().decode(Self.self, from: file)
            {
                self = description
                return
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw SandboxDidNotStart()
    }
}

/// A sandbox that does not come up.
package struct SandboxDidNotStart: Error {}
