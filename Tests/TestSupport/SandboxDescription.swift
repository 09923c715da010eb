import FoundationEssentials

/// A sandbox's addresses and identities, which it writes to a file once it is ready.
package struct SandboxDescription: Decodable, Sendable {
    /// The authority's URL.
    package let authority: String
    /// The URL of the resources.
    package let resource: String
    /// The URL of the registry.
    package let exchanges: String
    /// The folder of files with credentials for Google Cloud.
    package let google: String
    /// The URL of the images of the host that behaves like GitLab.
    package let registry: String
    /// The file with the certificate to trust.
    package let caFile: String
    /// The token for the control API.
    package let controlToken: String
    /// The client ID for workforce tenants.
    package let clientID: String
    /// The client ID for the B2C tenant.
    package let b2cClientID: String
    /// The standard OpenID Connect issuer.
    package let issuer: Host
    /// The host that behaves like GitHub.
    package let forge: Host
    /// The host that behaves like Gitea.
    package let gitea: Host
    /// The host that behaves like Forgejo.
    package let forgejo: Host

    /// The application that signs in without a user.
    package let application: Application

    /// The platforms with managed identities.
    package let machine: Machine

    /// A simulated machine in Azure, on each platform that the sandbox supports.
    package struct Machine: Decodable, Sendable {
        /// The variables of each platform, by the platform's name.
        package let platforms: [String: [String: String]]
        /// The client ID of the user-assigned identity.
        package let clientID: String
        /// The object ID of that identity.
        package let objectID: String
        /// The resource ID of that identity.
        package let resourceID: String
        /// The folder that stands for `/var/opt/azcmagent/tokens`.
        package let arcKeys: String

        private enum CodingKeys: String, CodingKey {
            case platforms
            case clientID = "client_id"
            case objectID = "object_id"
            case resourceID = "resource_id"
            case arcKeys = "arc_keys"
        }
    }

    /// An application and its credentials.
    package struct Application: Decodable, Sendable {
        /// Its client ID.
        package let clientID: String
        /// Its client secret.
        package let secret: String
        /// The file with its certificate and key.
        package let certificate: String
        /// The URL for requesting assertions about it, as in GitHub Actions.
        package let requestURL: String
        /// The token for those requests.
        package let requestToken: String

        private enum CodingKeys: String, CodingKey {
            case clientID = "client_id"
            case secret, certificate
            case requestURL = "request_url"
            case requestToken = "request_token"
        }
    }

    /// A host with its own sign-in.
    package struct Host: Decodable, Sendable {
        /// Its URL, which is also the issuer's identifier.
        package let url: String
        /// The public client; for the forge, its OAuth app, which needs a secret except for device codes.
        package let clientID: String
        /// The issuer's or Gitea's client with a secret.
        package let confidentialClientID: String?
        /// The forge's GitHub App.
        package let appClientID: String?
        /// The client secret of the clients that have one.
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
        case authority, resource, exchanges, google, registry, issuer, forge, gitea, forgejo, application, machine
        case caFile = "ca_file"
        case controlToken = "control_token"
        case clientID = "client_id"
        case b2cClientID = "b2c_client_id"
    }

    /// Waits until the sandbox in a folder is ready.
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

/// The sandbox didn't start in time.
package struct SandboxDidNotStart: Error {}
