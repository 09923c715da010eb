public import ArgumentParser
public import Rules
import Terminal
import TokenAcquisition

/// The options of every command that may ask the user.
struct InteractionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("How to sign in.", valueName: "flow"))
    var flow: Configuration.FlowChoice?

    @Option(help: ArgumentHelp("The command that opens a browser.", valueName: "command"))
    var browser: String?

    @Flag(help: "Print the page's URL instead of opening it; you can paste the last page's URL.")
    var noBrowser = false

    @Option(help: ArgumentHelp("How long to wait for you.", valueName: "seconds"))
    var timeout: Int?

    @Flag(help: "Never prompt; exit 2 if a user is needed.")
    var nonInteractive = false

    mutating func validate() throws {
        if noBrowser, browser != nil { throw ValidationError("give --browser or --no-browser, not both") }
        if let browser, ShellWords.split(browser)?.isEmpty != false {
            throw ValidationError("--browser needs a command; a quote in it isn't closed, or it is empty")
        }
        if let timeout, !(10...86_400).contains(timeout) {
            throw ValidationError("--timeout must be 10 to 86400 seconds")
        }
    }

    /// The values of the options, also for commands without them.
    struct Values: Sendable {
        var flow: Configuration.FlowChoice?
        var browser: String?
        var timeout: Int?
        var isInteractive = true
        /// Whether the user has requested to be asked, as with `login`.
        var isAskedFor = false
        /// The number of seconds that the caller waits; nil if it waits for the user.
        var timeLimit: Int?
        /// When to renew tokens that can still be handed out.
        var timing = RenewalTiming.whenDue
        /// Whether refresh tokens may be redeemed in this process, which nothing interrupts.
        var mayRedeem = false
    }

    var values: Values {
        Values(
            flow: flow, browser: noBrowser ? Configuration.noBrowser : browser, timeout: timeout,
            isInteractive: !nonInteractive)
    }
}

extension Configuration.FlowChoice: ExpressibleByArgument {}
