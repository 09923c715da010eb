import Addresses
import ConsumerProtocols
import Glibc
import Terminal

/// The program that lanyard hides by standing in for it: what lanyard doesn't answer is for it.
struct HiddenProgram {
    private let name: String
    private let arguments: [String]

    /// Nil if lanyard stands in for no such program, or answers such arguments itself.
    init?(_ name: String, _ arguments: [String]) {
        guard name == AzureCLIConsumer.program, !AzureCLIConsumer.serves(arguments) else { return nil }
        self.name = name
        self.arguments = arguments
    }

    /// Runs it in this process's place; comes back only if there is none, with the status for that.
    func run(in context: CommandContext) -> Int32 {
        do throws(Failure) {
            guard let path = path(in: context) else {
                throw Failure(
                    "\(name) is not installed, and lanyard answers for it only what SDKs ask", status: .notFound)
            }
            try ProgramInPlace(words: [path] + arguments, variables: [:]).run()
        } catch {
            context.console.report(error)
            return error.status.rawValue
        }
    }

    /// The first program of the name in `PATH` that isn't lanyard.
    private func path(in context: CommandContext) -> String? {
        (context.variable("PATH") ?? "").pieces(between: ":").lazy.map { "\($0)/\(name)" }
            .first { access($0, X_OK) == 0 && Self.target(of: $0) != context.executable }
    }

    private static func target(of path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
