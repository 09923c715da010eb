import ArgumentParser
import Claims
import Rules
import Terminal

/// The option that shapes a sign-in, if there is one, and that no rule has.
struct SignInOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The user name to fill in.", valueName: "user"))
    var loginHint: String?
}

/// The options that shape a sign-in, which a rule may have too.
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

    /// What was given.
    var texts: [SignInParameter: [String]] {
        let single = [SignInParameter.domainHint: domainHint, .redirectPort: redirectPort, .resetPolicy: resetPolicy]
        var texts = single.compactMapValues { text in text.map { [$0] } }
        if !queryParameter.isEmpty { texts[.queryParameters] = queryParameter }
        return texts
    }
}

extension SignInParameters {
    /// Reads what was given on the command line.
    ///
    /// - Throws: `Failure` with the status of a wrong command line.
    init(options texts: [SignInParameter: [String]]) throws(Failure) {
        self.init()
        do throws(SignInParameterError) { try take(texts) } catch {
            throw Failure(error.reason, hints: [Hint(error.hint)], status: .usage)
        }
    }
}
