/// The platforms that give machines identities.
package enum Platform: String, Sendable, CaseIterable {
    case imds
    case appService = "app-service"
    case azureML = "azure-ml"
    case cloudShell = "cloud-shell"
    case serviceFabric = "service-fabric"
    case arc = "azure-arc"

    /// Finds the platform as Microsoft's libraries do, in their order.
    ///
    /// App Service sets the variables of Azure Machine Learning, too, for old programs; so its own go first. What nothing tells
    /// of is a virtual machine, or no machine of Azure's at all: that shows when it is asked.
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

    /// The platform's service that gives tokens, ready to be asked.
    ///
    /// - Throws: `invalidRequest` if its variables can't be right.
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

    /// What people call whoever gives the tokens there.
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
