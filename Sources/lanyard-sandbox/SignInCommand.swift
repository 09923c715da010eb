import ArgumentParser
import FoundationEssentials
import Terminal

struct SignInCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-in", abstract: "Sign in to a sandbox with a scripted browser.",
        discussion: """
            Loads the page, follows its redirects, and fills in and sends its forms as a user would, until the waiting \
            program has its answer. As your browser, it signs in by itself:

              export LANYARD_SANDBOX_DIR=/tmp/sandbox
              export BROWSER="lanyard sandbox sign-in"

            Prints nothing to standard output, except with --elsewhere. The exit status is 0 if the last page loaded.
            """)

    @Argument(help: "The page to open: the URL that a program passes to a browser.")
    var url: String

    @Option(
        name: .customLong("as"),
        help: "The user who signs in; by default LANYARD_SANDBOX_USER, or whom the page suggests.")
    var username: String?

    @Option(help: "Their password; by default LANYARD_SANDBOX_PASSWORD, or that of the built-in people.")
    var password: String?

    @Flag(help: "Press Decline, Cancel or Deny if a page offers it.")
    var decline = false

    @Flag(help: "Close the browser as soon as the first page has loaded.")
    var close = false

    @Flag(help: "Act as a browser on another computer: print the URL to paste instead of calling the waiting program.")
    var elsewhere = false

    @Flag(help: "Press Cancel on a B2C sign-in page.")
    var cancel = false

    @Flag(help: "Press \"Forgot your password?\" on a B2C sign-in page.")
    var forgotPassword = false

    @Option(help: ArgumentHelp("The code that the device shows.", valueName: "usercode"))
    var code: String?

    @Option(
        help: ArgumentHelp("The certificate to trust; by default ca.pem in LANYARD_SANDBOX_DIR.", valueName: "file"))
    var ca: String?

    @Option(
        help: ArgumentHelp(
            "The file for cookies, so that the next run is the same browser; by default LANYARD_SANDBOX_COOKIES.",
            valueName: "file"))
    var cookies: String?

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        guard let start = URL(string: url), start.host() != nil else {
            throw ValidationError("\(url) is not the address of a page")
        }
        let user = ScriptedUser(
            username: username ?? environment["LANYARD_SANDBOX_USER"],
            password: password ?? environment["LANYARD_SANDBOX_PASSWORD"] ?? DefaultUsers.password,
            declines: decline, way: forgotPassword ? "forgot" : cancel || decline ? "cancel" : nil, userCode: code)
        do {
            try await browse(from: start, as: user, environment)
        } catch {
            Console.sandbox.report(CommandError(any: error))
            throw ExitCode.failure
        }
    }

    private func browse(from start: URL, as user: ScriptedUser, _ environment: [String: String]) async throws {
        let jar = cookies ?? environment["LANYARD_SANDBOX_COOKIES"]
        let trust = ca ?? environment["LANYARD_SANDBOX_DIR"].map { $0 + "/ca.pem" }
        try await ScriptedBrowser.withBrowser(trusting: trust, jar: jar) { browser in
            browser.isElsewhere = elsewhere
            let page = try await browser.open(start)
            guard !close else { return }
            let last = try await user.signIn(from: page, in: &browser)
            if elsewhere { print(last.url.absoluteString) }
        }
    }
}
