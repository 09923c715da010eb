import Addresses
import Glibc
package import HTTP
package import JSON
package import PluginWire
package import Secrets

/// The platforms with managed identities.
package enum Platform: String, Sendable, CaseIterable {
    case imds
    case appService = "app-service"
    case azureML = "azure-ml"
    case cloudShell = "cloud-shell"
    case serviceFabric = "service-fabric"
    case arc = "azure-arc"

    /// Detects the platform as Microsoft's libraries do, in the same order.
    ///
    /// App Service also sets the variables of Azure Machine Learning, for old programs, so its own variables are
    /// checked first. Without any variables, the machine is assumed to be a virtual machine; a request shows whether it
    /// is one, or isn't in Azure at all.
    package init(of surroundings: MachineSurroundings) {
        func has(_ variables: String...) -> Bool { variables.allSatisfy { surroundings.secret($0) != nil } }
        self =
            if has("IDENTITY_ENDPOINT", "IDENTITY_HEADER") {
                has("IDENTITY_SERVER_THUMBPRINT") ? .serviceFabric : .appService
            } else if has("MSI_ENDPOINT") {
                has("MSI_SECRET") ? .azureML : .cloudShell
            } else if has("IDENTITY_ENDPOINT", "IMDS_ENDPOINT") || surroundings.hasArcAgent {
                .arc
            } else {
                .imds
            }
    }

    /// Creates the client of the platform's token service.
    ///
    /// - Throws: `invalidRequest` if its variables are invalid.
    package func source(in surroundings: MachineSurroundings) throws(IdentityError) -> any TokenSource {
        switch self {
        case .imds: try InstanceMetadataService(surroundings)
        case .appService: try AppService(surroundings)
        case .azureML: try AzureMachineLearning(surroundings)
        case .cloudShell: try CloudShell(surroundings)
        case .serviceFabric: try ServiceFabric(surroundings)
        case .arc: try AzureArc(surroundings)
        }
    }

    /// The name of the platform's token service in messages.
    package var words: String {
        switch self {
        case .imds: "the machine's metadata service"
        case .appService: "App Service's identity endpoint"
        case .azureML: "Azure Machine Learning's identity endpoint"
        case .cloudShell: "Cloud Shell"
        case .serviceFabric: "Service Fabric's identity endpoint"
        case .arc: "the Azure Arc agent"
        }
    }
}

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
    func translated(_ fault: PlatformFault) -> PlatformFault
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
    package func translated(_ fault: PlatformFault) -> PlatformFault { fault }

    /// Rejects user-assigned identities, for platforms that support only the system-assigned one.
    func requireSystem(_ demand: Demand) throws(IdentityError) {
        guard demand.id != .system else { return }
        throw IdentityError(
            .invalidRequest, "\(platform.words) knows no identity but the machine's own",
            hint: "ask for the identity system; which one that is, the platform's settings say")
    }
}

/// The information that identifies a machine's platform: the caller's variables, and the machine's files.
package struct MachineSurroundings: Sendable {
    private static let arcAgent = "/opt/azcmagent/bin/himds"

    /// The root folder for the machine's files; empty for `/`.
    package let root: String
    private let variables: [String: Secret]

    /// Creates surroundings from variables and the files below a folder.
    package init(_ variables: [PluginField], root: String = "") {
        self.variables = Dictionary(variables.map { ($0.name, $0.value) }) { $1 }
        self.root = root
    }

    /// Returns a variable's value; nil if it is unset or empty.
    package func secret(_ variable: String) -> Secret? {
        variables[variable].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the value of a variable that isn't secret; nil if it is unset or empty.
    package subscript(variable: String) -> String? { secret(variable)?.reveal() }

    /// Whether the agent of Azure Arc is installed.
    package var hasArcAgent: Bool { access(root + Self.arcAgent, F_OK) == 0 }
}

/// Reads values from the platforms' variables and validates them before anything is sent.
package enum Endpoint {
    /// Returns the URL in a variable: http or https, without a user name or fragment; nil if the variable is unset.
    ///
    /// - Throws: `invalidRequest` if it isn't such a URL.
    package static func url(
        _ variable: String, in surroundings: MachineSurroundings, schemes: [String] = ["http", "https"]
    ) throws(IdentityError) -> String? {
        guard let text = surroundings[variable] else { return nil }
        guard let url = StrictURL(web: text), schemes.contains(url.scheme), !url.hasFragment else {
            throw IdentityError(
                .invalidRequest, "the variable \(variable) doesn't hold a URL of \(schemes.joined(separator: " or "))",
                hint: "unset \(variable), or set it as the machine's platform does")
        }
        return text
    }

    /// Returns the URL in a variable that must be set.
    package static func requiredURL(
        _ variable: String, in surroundings: MachineSurroundings, schemes: [String] = ["http", "https"]
    ) throws(IdentityError) -> String {
        guard let url = try url(variable, in: surroundings, schemes: schemes) else { throw unset(variable) }
        return url
    }

    /// Returns the secret in a variable, for use as a header's value.
    ///
    /// - Throws: `invalidRequest` if a header can't contain it.
    package static func header(_ variable: String, in surroundings: MachineSurroundings) throws(IdentityError) -> Secret
    {
        guard let secret = surroundings.secret(variable) else { throw unset(variable) }
        guard secret.reveal().utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw IdentityError(
                .invalidRequest, "the variable \(variable) holds characters that no HTTP header may have",
                hint: "set \(variable) as the machine's platform does")
        }
        return secret
    }

    private static func unset(_ variable: String) -> IdentityError {
        IdentityError(.invalidRequest, "the variable \(variable) is not set")
    }
}
