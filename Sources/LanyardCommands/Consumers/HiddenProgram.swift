import Addresses
import ConsumerProtocols
import Files
import Glibc
import Secrets
import Terminal

/// The program that lanyard hides by standing in for it: what lanyard doesn't answer is for it.
struct HiddenProgram {
    private let name: String
    private let arguments: [String]

    /// Nil if lanyard stands in for no such program, or answers such arguments itself.
    init?(_ name: String, _ arguments: [String]) {
        switch name {
        case AzureCLIConsumer.program where !AzureCLIConsumer.serves(arguments): break
        case AzureDeveloperCLIConsumer.program where !AzureDeveloperCLIConsumer.serves(arguments): break
        default: return nil
        }
        self.name = name
        self.arguments = arguments
    }

    /// Runs it in this process's place; comes back only if there is none, with the status for that.
    func run(in context: CommandContext) -> Int32 {
        do throws(Failure) {
            guard let path = path(in: context) else {
                throw Failure(
                    "\(name) is not installed; lanyard stands in for it, but answers only what SDKs ask",
                    status: .notFound)
            }
            try ProgramInPlace(words: [path] + arguments, variables: try variables(in: context)).run()
        } catch {
            context.console.report(error)
            return error.status.rawValue
        }
    }

    /// What the Azure Developer CLI gets tokens by; how it signs in itself is left to it.
    private func variables(in context: CommandContext) throws(Failure) -> [String: String?] {
        guard name == AzureDeveloperCLIConsumer.program, let command = arguments.first,
            !["auth", "completion", "version", "--version", "--help", "-h"].contains(command)
        else { return [:] }
        let endpoint = try TokenEndpoint(serving: .azd, in: context)
        return ["AZD_AUTH_ENDPOINT": endpoint.url, "AZD_AUTH_KEY": endpoint.secret.reveal(), "AZD_AUTH_CERT": nil]
    }

    /// The first program of the name in `PATH` that isn't lanyard.
    private func path(in context: CommandContext) -> String? {
        (context.variable("PATH") ?? "").pieces(between: ":").lazy.map { "\($0)/\(name)" }
            .first { access($0, X_OK) == 0 && FileTrust.realPath($0) != context.executable }
    }
}
