public import ArgumentParser
public import Rules
import Terminal
package import TokenAcquisition

/// The options of every command that may ask the user.
package struct InteractionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("How to sign in.", valueName: "flow"))
    package var flow: Configuration.FlowChoice?

    @Option(help: ArgumentHelp("The command that opens a browser.", valueName: "command"))
    package var browser: String?

    @Flag(help: "Print the page's URL instead of opening it; you can paste the last page's URL.")
    var noBrowser = false

    @Option(help: ArgumentHelp("How long to wait for you.", valueName: "seconds"))
    package var timeout: Int?

    @Flag(help: "Never prompt; exit 2 if a user is needed.")
    package var nonInteractive = false

    package mutating func validate() throws {
        if noBrowser, browser != nil { throw ValidationError("give --browser or --no-browser, not both") }
        if let browser, ShellWords.split(browser)?.isEmpty != false {
            throw ValidationError("--browser needs a command; a quote in it isn't closed, or it is empty")
        }
        if let timeout, !(10...86_400).contains(timeout) {
            throw ValidationError("--timeout must be 10 to 86400 seconds")
        }
    }

    /// The values of the options, also for commands without them.
    package struct Values: Sendable {
        package var flow: Configuration.FlowChoice?
        package var browser: String?
        package var timeout: Int?
        package var isInteractive = true
        /// Whether the user has requested to be asked, as with `login`.
        package var isAskedFor = false
        /// The number of seconds that the caller waits; nil if it waits for the user.
        package var timeLimit: Int?
        /// When to renew tokens that can still be handed out.
        package var timing = RenewalTiming.whenDue
        /// Whether refresh tokens may be redeemed in this process, which nothing interrupts.
        package var mayRedeem = false

        package init(
            flow: Configuration.FlowChoice? = nil, browser: String? = nil, timeout: Int? = nil,
            isInteractive: Bool = true, isAskedFor: Bool = false, timeLimit: Int? = nil,
            timing: RenewalTiming = .whenDue, mayRedeem: Bool = false
        ) {
            (self.flow, self.browser, self.timeout) = (flow, browser, timeout)
            (self.isInteractive, self.isAskedFor) = (isInteractive, isAskedFor)
            (self.timeLimit, self.timing, self.mayRedeem) = (timeLimit, timing, mayRedeem)
        }
    }

    package var values: Values {
        Values(
            flow: flow, browser: noBrowser ? Configuration.noBrowser : browser, timeout: timeout,
            isInteractive: !nonInteractive)
    }

    package init() {}
}

extension Configuration.FlowChoice: ExpressibleByArgument {}
