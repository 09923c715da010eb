import ArgumentParser
import Claims
import CommandKit
import JSON
import Keyring
import Model
import Rules
import Terminal
import TokenAcquisition

struct LoginCommand: TokenNamingCommand {
    static let configuration = CommandConfiguration(
        commandName: "login", abstract: "Sign in.",
        discussion: """
            For a URL that a rule maps, or for an authority, client ID and scopes given as options. At a terminal, a URL \
            without a rule is set up first, as by `lanyard configure git`.
            """)

    static let isForGit = true
    static let takesPatterns = true

    static let examples: KeyValuePairs = [
        "Sign in for a URL that a rule maps": "lanyard login \(Example.url)",
        "Show a code to enter on another device": "lanyard login --flow device-code \(Example.url)",
    ]

    @Argument(help: .tokenURL) var url: String?

    @OptionGroup(title: "Token") var named: NamedTokenOptions
    @OptionGroup(title: "Sign-in") var interaction: InteractionOptions
    @OptionGroup(title: "Sign-in page") var signIn: SignInOptions
    @OptionGroup(title: "Sign-in page") var page: SignInPageOptions
    @OptionGroup(title: "Sign-in") var prompting: PromptOptions

    @Flag(help: "Print JSON: the account that signed in, and the claims of its ID token.")
    var json = false

    mutating func run(in context: CommandContext) async throws {
        var options = interaction.values
        options.isAskedFor = true
        let furtherScopes = try prompting.furtherScopes()
        var session = try Session(context, options: options)
        if session.configuration.agent != nil {
            throw CommandError(
                "this machine uses an agent, so you sign in on the agent's machine",
                hints: [Hint("on the agent's machine", run: "lanyard login\(last: url ?? "URL")")])
        }
        if let mistake = session.browser?.mistake { throw mistake }
        if try await addRule(session) {
            session = try Session(context, options: options)
            let rule = try self.url.flatMap { url throws(CommandError) in
                session.configuration.rule(
                    for: try CredentialRequest(url: url, ofOneOf: session.configuration.rules))
            }
            // The user has been asked to sign in already.
            guard FirstSignIn(session, rule, Prompt(context)) == nil else { return }
        }
        var (request, url) = try await self.request(in: session)
        if let identity = request.identity { throw CommandError(noSignInFor: identity, url: url) }
        request.prompt = prompting.prompt?.rawValue
        request.signIn.alsoConsent = furtherScopes
        // If no plugin serves the authority, the sign-in reports it.
        let place = try? NamedAuthority(request, in: session)
        let before = try await session.accounts(at: place, for: url)
        // A sign-in needs a keyring that can be written, and the first one may be missing.
        let token = try await session.unlocking(for: url) { () throws(CommandError) in
            try await session.signIn(request, url: url)
        }
        guard let signedIn = token.account else { return }
        if json { try await report(token, signedIn, of: request, in: session) }
        let console = session.context.console
        do throws(CommandError) {
            try session.select(signedIn, at: place?.place)
        } catch {
            // The sign-in itself has succeeded and is stored.
            return console.report(error)
        }
        let others = before.all.filter { $0.account.homeAccountID.lowercased() != signedIn.homeAccountID.lowercased() }
        guard !others.isEmpty else { return }
        guard session.configuration.deviceMode != .shared else {
            return console.note(.othersOnSharedDevice)
        }
        // Offer to go back only if the user had chosen the other account, not if it was merely the only one.
        guard let place, let current = before.current, others.contains(current),
            try await session.accounts(at: place).previous != nil
        else { return }
        let text: Message = "using \(signedIn.displayName) for \(place.place.displayedURL) from now on; to go back"
        console.note(Hint(text, run: "lanyard use -"))
    }

    /// Prints the account, as `status --accounts --json` does, and what its ID token says.
    private func report(
        _ token: AcquiredToken, _ signedIn: AccountRecord, of request: TokenRequest, in session: Session
    ) async throws(CommandError) {
        let known = try await session.accounts(for: url)
        let account = (known.all + known.elsewhere).first {
            $0.account.homeAccountID.lowercased() == signedIn.homeAccountID.lowercased()
                && $0.account.environment.lowercased() == signedIn.environment.lowercased()
        }
        let idToken = try session.idToken(of: token, for: request.clientID)
        session.context.console.print(json: [
            "account": account?.json(among: known) ?? .null, "scopes": JSONValue(strings: token.scopes),
            "expiresOn": JSONValue(token.expiresOn), "idToken": idToken?.claimsJSON ?? .null,
        ])
    }

    /// Has the user configure git for a URL that has no rule yet, at a terminal; false if there is nothing to ask.
    private mutating func addRule(_ session: Session) async throws -> Bool {
        guard !named.isTokenNamed, session.presence.isSomebodyThere, let prompt = Prompt(session.context) else {
            return false
        }
        if url == nil, session.configuration.rules.isEmpty {
            let typed = await prompt.text("URL of the git server to sign in for, such as \(Example.url)")
            guard let typed, !typed.isEmpty else { return false }
            url = typed
        }
        guard let url, let pattern = try? URLPattern(typed: url), pattern.isTokenPlace, !session.maps(pattern) else {
            return false
        }
        try await ConfigureGitCommand.parse([pattern.text]).run(in: session.context, goesOn: true)
        return true
    }
}

/// The options for a sign-in that only `login` has, since other commands may have a token without one.
struct PromptOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Force a prompt.", valueName: "prompt"))
    var prompt: SignInPrompt?

    @Option(help: ArgumentHelp("A scope of another API to consent to; may be repeated.", valueName: "scope"))
    var alsoConsent: [String] = []

    /// The scopes of other APIs in one text; nil for none.
    ///
    /// - Throws: `CommandError` if one of them can't be a scope.
    fileprivate func furtherScopes() throws(CommandError) -> String? {
        guard !alsoConsent.isEmpty else { return nil }
        return try SignInParameters(options: [.alsoConsent: [alsoConsent.joined(separator: " ")]]).alsoConsent
    }
}

extension SignInPrompt: ExpressibleByArgument {}
