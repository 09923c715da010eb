import Addresses
import ArgumentParser
import Files
import Rules
import Secrets
import Terminal
import Tools

/// The token sources of other programs that lanyard can stand in for.
enum StandIn: String, CaseIterable, ExpressibleByArgument {
    case azureCLI = "azure-cli"
    case azd
    case managedIdentity = "managed-identity"

    /// The program that is asked; nil if it isn't a program.
    var program: String? {
        switch self {
        case .azureCLI: AzureCLIConsumer.program
        case .azd: AzureDeveloperCLIConsumer.program
        case .managedIdentity: nil
        }
    }

    /// Returns the variables that make a command find lanyard instead of the program.
    ///
    /// The folder with the link isn't removed, because the command replaces this process.
    func variables(linking program: String, in session: Session) throws(Failure) -> [String: String?] {
        try requireClient(in: session.configuration)
        let folder = try makeFolder(with: program, in: session.context)
        let path = [folder, session.context.variable("PATH") ?? "/usr/local/bin:/usr/bin:/bin"].joined(separator: ":")
        guard self == .azureCLI else { return ["PATH": path] }
        // Older SDKs only search the system's folders and those in these variables.
        return ["PATH": path, "AZURE_CLI_PATH": folder, "AzureCLIPath": folder]
    }

    /// Returns the variables that make a command find a managed identity whose tokens are lanyard's.
    static func variables(
        ofIdentityFor resources: [String], _ options: [String], in context: CommandContext
    ) throws(Failure) -> [String: String?] {
        let endpoint = try TokenEndpoint(serving: .managedIdentity, of: resources, options, in: context)
        let variables: [String: String?] = [
            "IDENTITY_ENDPOINT": "\(endpoint.url)/msi/token", "IDENTITY_HEADER": endpoint.secret.reveal(),
            // With one of these, SDKs assume a different kind of machine.
            "IDENTITY_SERVER_THUMBPRINT": nil, "IMDS_ENDPOINT": nil, "MSI_ENDPOINT": nil, "MSI_SECRET": nil,
        ]
        return variables.merging(unproxied(context)) { $1 }
    }

    /// Returns the variables that keep SDKs from sending local requests, and the secret in them, to a proxy.
    static func unproxied(_ context: CommandContext) -> [String: String?] {
        let proxies = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]
        guard proxies.contains(where: { context.variable($0) != nil }) else { return [:] }
        let names = ["no_proxy", "NO_PROXY"]
        let lists = names.map { context.variable($0) }
        let list = [lists[0] ?? lists[1], "127.0.0.1"].compactMap(\.self).joined(separator: ",")
        return Dictionary(uniqueKeysWithValues: names.map { ($0, list) })
    }

    /// Throws for a mistake that would otherwise show later, and only in an SDK's error.
    private func requireClient(in configuration: Configuration) throws(Failure) {
        // An agent has its own settings.
        guard configuration.agent == nil else { return }
        guard let authority = configuration.authority else {
            throw Failure(
                "no authority is configured, so programs can't say where to sign in",
                hints: [Hint("set one", run: "lanyard config set authority \(Example.wideAuthority)")])
        }
        guard configuration.clientID(at: authority) == nil else { return }
        throw Failure(
            "no client ID is configured for \(authority.displayable(limit: 255))",
            hints: [Hint("set your app's, or", run: "lanyard config set client-id azure-cli")])
    }

    /// Makes the folder that contains only the link, in the user's runtime folder or else the state folder.
    private func makeFolder(with program: String, in context: CommandContext) throws(Failure) -> String {
        let runtime = context.environment.ownRuntimeFolder.map { "\($0)/lanyard" }
        guard let parent = runtime ?? context.environment.stateFolder else {
            throw Failure("there is no place for a link to lanyard", hints: ["set HOME or XDG_RUNTIME_DIR"])
        }
        let folder = "\(parent)/\(rawValue)"
        do throws(FileProblem) {
            Folder.make(parent)
            let above = try Folder(parent)
            try above.requireOwn(closedTo: 0o022)
            try above.privateFolder(rawValue, making: true)
                .link(program, to: context.executable)
        } catch {
            throw Failure("\(folder.displayable(limit: 300)) can't be used: \(error.reason)")
        }
        guard !folder.hasBytes(":") else {
            throw Failure("\(folder.displayable(limit: 300)) can't be in PATH: there is a colon in its name")
        }
        return folder
    }
}
