import ArgumentParser
import CredentialProtocol
import Rules
import TokenAcquisition
import TokenStore

/// `lanyard login`.
struct Login: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sign in.",
        discussion: "For a URL that a rule maps, or for an authority, a client id and scopes given by name.")

    @OptionGroup var token: TokenOptions
    @OptionGroup var interaction: InteractionOptions

    @Option(help: ArgumentHelp("none, login, consent, select_account or create.", valueName: "prompt"))
    var prompt: Prompt?

    mutating func run() async throws {
        var options = interaction.values
        options.isAskedFor = true
        let session = try Session(options: options)
        var (request, url) = try token.request(in: session)
        request.prompt = prompt?.rawValue
        // Whoever names an account to sign in means to add it, signed in before or not.
        let signedIn = try await session.signIn(request, url: url)
        let name = signedIn.account.username.isEmpty ? signedIn.account.homeAccountID : signedIn.account.username
        session.context.console.note("signed in as \(name.displayable(limit: 200))")
    }
}

/// `--prompt`'s values.
enum Prompt: String, ExpressibleByArgument, CaseIterable {
    case none
    case login
    case consent
    case selectAccount = "select_account"
    case create
}
