import ArgumentParser
import Rules

/// The options that shape a sign-in, where there is one.
struct SignInOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Who is likely to sign in.", valueName: "user"))
    var loginHint: String?

    @Option(
        help: ArgumentHelp(
            "The domain of who is likely to sign in, or consumers or organizations.", valueName: "domain"))
    var domainHint: String?

    @Option(
        help: ArgumentHelp(
            "A further parameter of the sign-in page; may be given several times.", valueName: "name=value"))
    var queryParameter: [String] = []

    @Option(
        help: ArgumentHelp("The port of this computer that the sign-in comes back to.", valueName: "port"))
    var redirectPort: String?

    @Option(
        help: ArgumentHelp("The B2C policy that resets a forgotten password.", valueName: "policy"))
    var resetPolicy: String?

    /// Puts the options into a wish.
    ///
    /// - Throws: `Failure` with the status of a wrong command line.
    func write(to wish: inout CredentialRequest.TokenWish) throws(Failure) {
        do throws(SignInParameterError) {
            _ = try SignInParameters.parameters(queryParameter)
            _ = try redirectPort.map(SignInParameters.port)
            _ = try loginHint.map(SignInParameters.loginHint)
            _ = try domainHint.map(SignInParameters.domain)
            _ = try resetPolicy.map(SignInParameters.policy)
        } catch {
            throw Failure(error.reason, hints: [Hint(error.hint)], status: .usage)
        }
        wish.loginHint = loginHint
        wish.domainHint = domainHint
        wish.queryParameters = queryParameter
        wish.redirectPort = redirectPort
        wish.resetPolicy = resetPolicy
    }
}
