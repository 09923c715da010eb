public import ArgumentParser
public import Rules
import Terminal
import TokenAcquisition

/// The options of every command that may ask the person.
struct InteractionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("How to sign in.", valueName: "flow"))
    var flow: Configuration.FlowChoice?

    @Option(help: ArgumentHelp("The command that opens a browser.", valueName: "command"))
    var browser: String?

    @Flag(help: "Print the page's URL instead of opening it; you can paste the last page's URL.")
    var noBrowser = false

    @Option(help: ArgumentHelp("How long to wait for you.", valueName: "seconds"))
    var timeout: Int?

    @Flag(help: "Never prompt; exit 2 if a person is needed.")
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

    /// The options' values, for commands that have none.
    struct Values: Sendable {
        var flow: Configuration.FlowChoice?
        var browser: String?
        var timeout: Int?
        var isInteractive = true
        /// Whether the command itself is the person's wish to be asked, as `login` is.
        var isAskedFor = false
        /// How many seconds whoever asked waits for an answer; nil if they wait for the person.
        var timeLimit: Int?
        /// When tokens are renewed that can still be handed out.
        var timing = RenewalTiming.whenDue
    }

    var values: Values {
        Values(
            flow: flow, browser: noBrowser ? Configuration.noBrowser : browser, timeout: timeout,
            isInteractive: !nonInteractive)
    }
}

extension Configuration.FlowChoice: ExpressibleByArgument {}
