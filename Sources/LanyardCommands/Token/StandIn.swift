import Addresses
import ArgumentParser
import ConsumerProtocols
import Files
import Rules
import Secrets
import Terminal

/// A program that others run for tokens, and that lanyard stands in for.
enum StandIn: String, CaseIterable, ExpressibleByArgument {
    case azureCLI = "azure-cli"

    /// The variables with which a command finds lanyard instead of the program.
    ///
    /// The folder with the link stays: the command takes this process's place, and nobody is left to remove it.
    func variables(in session: Session) throws(Failure) -> [String: String] {
        try requireClient(in: session.configuration)
        let folder = try makeFolder(in: session.context)
        let path = [folder, session.context.variable("PATH") ?? "/usr/local/bin:/usr/bin:/bin"].joined(separator: ":")
        // Older SDKs search only the system's folders and those that one of these names.
        return ["PATH": path, "AZURE_CLI_PATH": folder, "AzureCLIPath": folder]
    }

    /// Refuses what would only fail later, and where the SDK shows no more than that.
    private func requireClient(in configuration: Configuration) throws(Failure) {
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

    /// Makes the folder whose only program is the link, in the user's runtime folder, else in that for state.
    private func makeFolder(in context: CommandContext) throws(Failure) -> String {
        let runtime = context.environment.absolutePath("XDG_RUNTIME_DIR").flatMap { Folder.isOwn($0) ? $0 : nil }
        guard let parent = runtime.map({ "\($0)/lanyard" }) ?? context.environment.stateFolder else {
            throw Failure("there is no place for a link to lanyard", hints: ["set HOME or XDG_RUNTIME_DIR"])
        }
        let folder = "\(parent)/\(rawValue)"
        do throws(FileProblem) {
            Folder.make(parent)
            let above = try Folder(parent)
            try above.requireOwn(closedTo: 0o022)
            try above.privateFolder(rawValue, making: true)
                .link(AzureCLIConsumer.program, to: context.executable)
        } catch {
            throw Failure("\(folder.displayable(limit: 300)) can't be used: \(error.reason)")
        }
        guard !folder.hasBytes(":") else {
            throw Failure("\(folder.displayable(limit: 300)) can't be in PATH: there is a colon in its name")
        }
        return folder
    }
}
