import ArgumentParser
import Claims
import Rules
import Terminal

/// The option for a sign-in that a rule can't have.
struct SignInOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The user name to fill in.", valueName: "user"))
    var loginHint: String?
}

/// The options for a sign-in that a rule can also have.
struct SignInPageOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The account's domain, or a kind of account.", valueName: "domain"))
    var domainHint: String?

    @Option(
        help: ArgumentHelp(
            "An extra parameter; may be repeated.", valueName: "name=value"))
    var queryParameter: [String] = []

    @Option(
        help: ArgumentHelp("Local port for the redirect.", valueName: "port"))
    var redirectPort: String?

    @Option(
        help: ArgumentHelp("The B2C policy for a forgotten password.", valueName: "policy"))
    var resetPolicy: String?

    /// The values of the options.
    var texts: [SignInParameter: [String]] {
        let single = [SignInParameter.domainHint: domainHint, .redirectPort: redirectPort, .resetPolicy: resetPolicy]
        var texts = single.compactMapValues { text in text.map { [$0] } }
        if !queryParameter.isEmpty { texts[.queryParameters] = queryParameter }
        return texts
    }
}

extension SignInParameters {
    /// Parses the options of a command line.
    ///
    /// - Throws: `Failure` with the exit status for wrong usage.
    init(options texts: [SignInParameter: [String]]) throws(Failure) {
        self.init()
        do throws(SignInParameterError) { try take(texts) } catch {
            throw Failure(error.reason, hints: [Hint(error.hint)], status: .usage)
        }
    }
}
