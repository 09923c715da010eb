import ArgumentParser
import Rules

/// What a new rule says.
struct RuleOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The authority, such as https://login.microsoftonline.com/contoso.com.", valueName: "url"))
    var authority: String?

    @Option(help: ArgumentHelp("The client id of your app registration.", valueName: "id"))
    var clientId: String?

    @Option(
        help: ArgumentHelp("A scope; may be given several times. Well-known hosts need none.", valueName: "scope"))
    var scope: [String] = []

    @Option(
        help: ArgumentHelp(
            "A resource instead of scopes: its identifier, or a name such as \"Azure DevOps\".", valueName: "resource"))
    var resource: String?

    @Option(help: ArgumentHelp("The account, by user name or identifier.", valueName: "account"))
    var account: String?

    @Option(help: ArgumentHelp("The kind of authority where its URL doesn't tell: aad or b2c.", valueName: "kind"))
    var kind: String?

    @Option(
        help: ArgumentHelp("The domain of who signs in, or consumers or organizations.", valueName: "domain"))
    var domainHint: String?

    @Option(
        help: ArgumentHelp(
            "A further parameter of the sign-in page; may be given several times.", valueName: "name=value"))
    var queryParameter: [String] = []

    @Option(help: ArgumentHelp("The port of this computer that the sign-in comes back to.", valueName: "port"))
    var redirectPort: String?

    @Option(help: ArgumentHelp("The B2C policy that resets a forgotten password.", valueName: "policy"))
    var resetPolicy: String?

    mutating func validate() throws {
        if resource != nil, !scope.isEmpty { throw ValidationError("give --scope or --resource, not both") }
    }

    /// Puts what shapes the sign-in into a rule.
    ///
    /// - Throws: `Failure` with the status of a wrong command line.
    func writeSignIn(to rule: inout Rule) throws(Failure) {
        do throws(SignInParameterError) {
            rule.domainHint = try domainHint.map(SignInParameters.domain)
            rule.queryParameters = try SignInParameters.parameters(queryParameter)
            rule.redirectPort = try redirectPort.map(SignInParameters.port)
            rule.resetPolicy = try resetPolicy.map(SignInParameters.policy)
        } catch {
            throw Failure(error.reason, hints: [Hint(error.hint)], status: .usage)
        }
    }

    /// Whether nothing was given.
    var isEmpty: Bool {
        authority == nil && clientId == nil && scope.isEmpty && resource == nil && account == nil && kind == nil
            && domainHint == nil && queryParameter.isEmpty && redirectPort == nil && resetPolicy == nil
    }
}
