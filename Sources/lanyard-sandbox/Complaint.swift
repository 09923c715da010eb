import ArgumentParser
import Secrets
import SystemPackage

/// Tells a person on stderr why a command ends.
enum Complaint {
    /// Writes one line and returns how the process is to end.
    static func exit(after error: any Error) -> ExitCode {
        let line = "lanyard-sandbox: error: \("\(error)".displayable())\n"
        _ = try? FileDescriptor.standardError.writeAll(line.utf8)
        return .failure
    }
}
