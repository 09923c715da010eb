import ArgumentParser

/// A local Entra to try lanyard with, or to test against.
@main
struct SandboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lanyard sandbox",
        abstract: "A local Microsoft Entra with made-up people, to try sign-ins without a tenant.",
        discussion: """
            `serve` starts an authority (what login.microsoftonline.com is in the real world) and, on a second port, \
            what its tokens open: git repositories and a little of Microsoft Graph. Everything runs on this computer, \
            over HTTPS with a certificate authority that lives as long as the sandbox.

            `sign-in` is a browser that fills in the pages by itself, for tests and scripts.

            Try it:
              lanyard sandbox serve --directory /tmp/sandbox
            and do what it prints.
            """,
        subcommands: [ServeCommand.self, SignInCommand.self])
}
