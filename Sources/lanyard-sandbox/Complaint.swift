import ArgumentParser
import FoundationEssentials
import Secrets
import SystemPackage
import Terminal

/// Tells a person on stderr why a command ends.
enum Complaint {
    static let console = Console(
        output: .standardOutput, errors: .standardError, environment: ProcessInfo.processInfo.environment)

    /// Tells it and returns how the process is to end.
    static func exit(after error: any Error) -> ExitCode {
        console.error("\(error)".displayable())
        return .failure
    }
}
