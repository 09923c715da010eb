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
    package init(of surroundings: Surroundings) {
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
    package func source(in surroundings: Surroundings) throws(IdentityError) -> any TokenSource {
        switch self {
        case .imds: try InstanceMetadata(surroundings)
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
