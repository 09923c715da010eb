import ArgumentParser
import FoundationEssentials
import Secrets
import SystemPackage
import Terminal

/// Reports on stderr why a command fails.
enum Complaint {
    static let console = Console(
        output: .standardOutput, errors: .standardError, environment: ProcessInfo.processInfo.environment)

    /// Reports the error and returns the exit code.
    static func exit(after error: any Error) -> ExitCode {
        console.error("\(error)".displayable())
        if let hint = (error as? SandboxError)?.hint { console.hint(hint) }
        return .failure
    }
}
