import ArgumentParser
import CLinux
import FoundationEssentials
import Glibc
import Secrets
import SystemPackage
import Terminal

/// A local Entra for trying out and testing lanyard.
@main
struct SandboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lanyard sandbox",
        abstract: "Run a local Microsoft Entra with made-up people, to try sign-ins without a tenant.",
        discussion: """
            `serve` starts an authority (login.microsoftonline.com in the real world) and, on a second port, what its \
            tokens open: git repositories and a little of Microsoft Graph. Four more hosts sign people in by themselves and have \
            repositories: a plain OpenID Connect issuer, one that works as GitHub does, a Gitea and a Forgejo. Machines in Azure get their tokens here, too. Everything runs on this computer, \
            over HTTPS, with a certificate authority that lives as long as the sandbox.

            `sign-in` is a browser that fills in the pages by itself, for tests and scripts.

            Start it, then follow what it prints:
              lanyard sandbox serve --directory /tmp/sandbox

            See 'man lanyard-sandbox' for the manual.
            """,
        subcommands: [ServeCommand.self, SignInCommand.self])

    /// Does the same as the argument parser's, but reports usage errors in lanyard's format.
    static func main() async {
        lanyard_settle()
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
        } catch {
            let status = exitCode(for: error)
            let text = fullMessage(for: error)
            guard status != .success, !text.isEmpty else { exit(withError: error) }
            Console.sandbox.error(UsageError(message: message(for: error), text: text))
            Glibc.exit(status.rawValue)
        }
    }
}

extension Console {
    static let sandbox = Console(
        output: .standardOutput, errors: .standardError, environment: ProcessInfo.processInfo.environment)
}

extension CommandError {
    /// Creates the error for one that may be a library's, in that one's words.
    init(any error: any Error) {
        self = error as? CommandError ?? CommandError("\(String(describing: error), limit: 4096)")
    }
}
