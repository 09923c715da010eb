import ArgumentParser
import FoundationEssentials

struct SignInCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-in", abstract: "Sign in on a sandbox's pages without a person: a scripted browser.",
        discussion: """
            Loads the page, follows its redirects, fills in and sends its forms as a person would, down to the \
            program that waits for the answer. As your browser it makes sign-ins happen by themselves:

              export LANYARD_SANDBOX_DIR=/tmp/sandbox
              export BROWSER="lanyard sandbox sign-in --as alice@contoso.example"

            Prints nothing on stdout, but with --elsewhere. Ends with 0 if the last page loaded fine.
            """)

    @Argument(help: "The page to start from: what a program wants to open in a browser.")
    var url: String

    @Option(name: .customLong("as"), help: "Who signs in. Without: LANYARD_SANDBOX_USER, or whom the page suggests.")
    var username: String?

    @Option(help: "Their password. Without: LANYARD_SANDBOX_PASSWORD, or that of the built-in people.")
    var password: String?

    @Flag(help: "Press Decline, Cancel or Deny where a page offers it.")
    var decline = false

    @Flag(help: "Close the browser as soon as the first page is there.")
    var close = false

    @Flag(help: "Be on another computer: don't call the program that waits, but print the address to paste there.")
    var elsewhere = false

    @Flag(help: "Press Cancel on a B2C sign-in page.")
    var cancel = false

    @Flag(help: "Press \"Forgot your password?\" on a B2C sign-in page.")
    var forgotPassword = false

    @Option(help: ArgumentHelp("The code that a device shows.", valueName: "usercode"))
    var code: String?

    @Option(help: ArgumentHelp("The certificate to trust. Without: ca.pem in LANYARD_SANDBOX_DIR.", valueName: "file"))
    var ca: String?

    @Option(help: ArgumentHelp("Where to keep cookies, so that the next run is the same browser.", valueName: "file"))
    var cookies: String?

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        guard let start = URL(string: url), start.host() != nil else {
            throw ValidationError("\(url) is not the address of a page")
        }
        var person = Person(
            username: username ?? environment["LANYARD_SANDBOX_USER"],
            password: password ?? environment["LANYARD_SANDBOX_PASSWORD"] ?? DefaultUsers.password)
        person.declines = decline
        person.userCode = code
        person.way = forgotPassword ? "forgot" : cancel || decline ? "cancel" : nil
        do {
            try await browse(from: start, as: person, environment)
        } catch {
            throw Complaint.exit(after: error)
        }
    }

    private func browse(from start: URL, as person: Person, _ environment: [String: String]) async throws {
        let jar = cookies ?? environment["LANYARD_SANDBOX_COOKIES"]
        let trust = ca ?? environment["LANYARD_SANDBOX_DIR"].map { $0 + "/ca.pem" }
        try await ScriptedBrowser.withBrowser(trusting: trust, jar: jar) { browser in
            browser.isElsewhere = elsewhere
            let page = try await browser.open(start)
            guard !close else { return }
            let last = try await person.signIn(from: page, in: &browser)
            if elsewhere { print(last.url.absoluteString) }
        }
    }
}
