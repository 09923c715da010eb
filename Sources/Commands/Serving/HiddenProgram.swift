import Addresses
import CommandKit
import Files
import Glibc
import Secrets
import Terminal
import Tools

/// The real program behind one of lanyard's stand-ins, which gets all command lines that lanyard doesn't answer.
struct HiddenProgram {
    private let name: String
    private let arguments: [String]

    /// Returns nil if lanyard doesn't stand in for such a program, or answers these arguments itself.
    init?(_ name: String, _ arguments: [String]) {
        switch name {
        case AzureCLIProtocol.program where !AzureCLIProtocol.serves(arguments): break
        case AzureDeveloperCLIProtocol.program where !AzureDeveloperCLIProtocol.serves(arguments): break
        default: return nil
        }
        self.name = name
        self.arguments = arguments
    }

    /// Replaces this process with the program; if that fails, returns the exit status.
    func run(in context: CommandContext) -> Int32 {
        do throws(CommandError) {
            guard let path = path(in: context) else {
                throw CommandError(
                    "\(name) is not installed; lanyard stands in for it, but answers only what SDKs ask",
                    status: .notFound)
            }
            try ProgramInPlace(words: [path] + arguments, variables: try variables(in: context)).run()
        } catch {
            context.console.report(error)
            return error.status.rawValue
        }
    }

    /// Returns the variables through which the Azure Developer CLI gets tokens; its own sign-in doesn't need them.
    private func variables(in context: CommandContext) throws(CommandError) -> [String: String?] {
        guard name == AzureDeveloperCLIProtocol.program, let command = arguments.first,
            !["auth", "completion", "version", "--version", "--help", "-h"].contains(command)
        else { return [:] }
        let endpoint = try TokenEndpoint(serving: .azd, in: context)
        let variables: [String: String?] = [
            "AZD_AUTH_ENDPOINT": endpoint.url, "AZD_AUTH_KEY": endpoint.secret.reveal(), "AZD_AUTH_CERT": nil,
        ]
        return variables.merging(StandIn.unproxied(context)) { $1 }
    }

    /// Returns the first program with the name on `PATH` that isn't lanyard.
    private func path(in context: CommandContext) -> String? {
        (context.variable("PATH") ?? "").pieces(between: ":").lazy.map { "\($0)/\(name)" }
            .first { access($0, X_OK) == 0 && FileTrust.realPath($0) != context.executable }
    }
}
