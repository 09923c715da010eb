import FoundationEssentials

/// Where a sandbox serves and whom it knows, as it says itself once it serves.
package struct SandboxDescription: Decodable, Sendable {
    /// The authority's URL.
    package let authority: String
    /// The URL of the resources.
    package let resource: String
    /// The URL of the registry.
    package let exchanges: String
    /// The file with the certificate to trust.
    package let caFile: String
    /// What opens the control interface.
    package let controlToken: String
    /// The application of workforce tenants.
    package let clientID: String
    /// The application of the B2C tenant.
    package let b2cClientID: String
    /// The plain OpenID Connect issuer.
    package let issuer: Host
    /// The host that works as GitHub does.
    package let forge: Host
    /// The host that works as Gitea does.
    package let gitea: Host

    /// The application that signs in without a person.
    package let application: Application

    /// What gives machines in Azure their tokens.
    package let machine: Machine

    /// A machine in Azure that this computer can be, on each platform that the sandbox knows.
    package struct Machine: Decodable, Sendable {
        /// The variables that a platform gives its machines, by the platform's name.
        package let platforms: [String: [String: String]]
        /// The client ID of the identity that was assigned to it.
        package let clientID: String
        /// The object ID of that identity.
        package let objectID: String
        /// The resource ID of that identity.
        package let resourceID: String
        /// The folder that such a machine has at `/var/opt/azcmagent/tokens`.
        package let arcKeys: String

        private enum CodingKeys: String, CodingKey {
            case platforms
            case clientID = "client_id"
            case objectID = "object_id"
            case resourceID = "resource_id"
            case arcKeys = "arc_keys"
        }
    }

    /// An application, and what proves it.
    package struct Application: Decodable, Sendable {
        /// Its client ID.
        package let clientID: String
        /// Its client secret.
        package let secret: String
        /// The file with its certificate and key.
        package let certificate: String
        /// Where assertions about it are asked for, as in GitHub Actions.
        package let requestURL: String
        /// What is shown there.
        package let requestToken: String

        private enum CodingKeys: String, CodingKey {
            case clientID = "client_id"
            case secret, certificate
            case requestURL = "request_url"
            case requestToken = "request_token"
        }
    }

    /// A host that signs people in by itself.
    package struct Host: Decodable, Sendable {
        /// Its URL, which is the issuer's identifier too.
        package let url: String
        /// The client without a secret; the forge's OAuth app, which needs one unless it signs in by a device code.
        package let clientID: String
        /// The issuer's or Gitea's client that has a secret.
        package let confidentialClientID: String?
        /// The forge's GitHub App.
        package let appClientID: String?
        /// The secret of those clients that have one.
        package let clientSecret: String

        private enum CodingKeys: String, CodingKey {
            case url
            case clientID = "client_id"
            case confidentialClientID = "confidential_client_id"
            case appClientID = "app_client_id"
            case clientSecret = "client_secret"
        }
    }

    private enum CodingKeys: String, CodingKey {
        case authority, resource, exchanges, issuer, forge, gitea, application, machine
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
