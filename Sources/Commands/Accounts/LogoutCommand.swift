import Addresses
import AnswerCache
import ArgumentParser
import CommandKit
import CredentialEngine
import Keyring
import Model
import PluginHost
import PluginWire
import Rules
import Secrets
import Terminal
import TokenAcquisition

struct LogoutCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "logout", abstract: "Sign an account out.", usage: "lanyard logout [<options>] [<account>]",
        discussion: """
            Removes the account's tokens for the apps in your configuration, and no other app's; on a shared \
            device, or with --all, for every app.
            """)

    static let examples: KeyValuePairs = [
        "Sign an account out": "lanyard logout alice@contoso.com",
        "Sign out everyone, here and in the browser": "lanyard logout --all --browser",
    ]

    @Argument(
        help: "The account: a user name, an identifier or the beginning of one. May be left out if there is only one."
    )
    var account: String?

    @OptionGroup var place: AuthorityOptions

    @Flag(help: "Sign out every account, of every app.")
    var all = false

    @Option(help: ArgumentHelp("Only this app's tokens, by client ID or name.", valueName: "id"))
    var clientId: String?

    @Flag(help: "Remove the account for every app, not only for those in your configuration.")
    var forget = false

    @Flag(help: "Also end the browser's session.")
    var browser = false

    @Flag(help: "Never prompt for the account.")
    var nonInteractive = false

    mutating func validate() throws {
        if all, account != nil { throw ValidationError("name an account or give --all, not both") }
        if forget, clientId != nil { throw ValidationError("give --forget or --client-id, not both") }
    }

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context, options: .init(isInteractive: !nonInteractive, isAskedFor: browser))
        // Forget the answers first, so that lanyard gives none even if the keyring doesn't respond.
        session.context.answers.forget()
        let known = try await session.accounts(at: try place.place(nil, in: session))
        guard !known.all.isEmpty || account != nil else {
            return context.console.note(Hint(CommandError.nobodyIsSignedIn.message))
        }
        let chosen = try await chosen(among: known, in: session)
        // Names must be unique among all accounts, even if the sign-out is at one authority only.
        let everybody = try await session.accounts()
        var failed: CommandError?
        for account in chosen {
            do throws(CommandError) {
                try await signOut(account, typed: everybody.name(of: account), in: session)
            } catch {
                guard chosen.count > 1 else { throw error }
                session.context.console.report(error)
                failed = error
            }
        }
        if let failed { throw ExitCode(failed.status.rawValue) }
    }

    private func signOut(_ known: KnownAccount, typed: String, in session: Session) async throws(CommandError) {
        let name = known.account.displayName
        let clients = clients(in: session)
        let done: TokenAcquirer.SignedOut
        do throws(KeyringError) { done = try await session.acquirer.signOut(known, of: clients) } catch {
            throw CommandError(error)
        }
        session.context.console.endProgress()
        guard done.removed > 0 else {
            throw CommandError(
                "only other apps have tokens for \(name): \(Self.list(done.remaining))",
                hints: hints(signingOut: typed, of: done.remaining))
        }
        let others = done.remaining.isEmpty ? "" : "; other apps keep theirs: \(Self.list(done.remaining))"
        session.context.console.note("signed out \(name)\(others)")
        if known.broker != nil, session.configuration.mayUseBroker {
            session.context.console.note(
                Hint(
                    "the machine's broker stays signed in and can answer the next request; to stop lanyard from asking it",
                    run: "lanyard config set flow browser"))
        }
        await session.revoke(done.refreshTokens, of: known)
        guard browser else { return }
        let client = clientId == nil ? nil : clients?.first
        try await session.endBrowserSession(of: known, idTokens: done.idTokens, clientID: client)
    }

    private func hints(signingOut account: String, of clients: [String]) -> [Hint] {
        let command: ShellCommand = "lanyard logout\(flag: "--browser", if: browser)"
        let only = clients.count == 1 ? clients.first : nil
        return [
            Hint(
                only == nil ? "sign one of them out" : "sign it out there",
                run: "\(command)\(option: "--client-id", only ?? "ID", limit: 64)\(last: account, limit: 200)"),
            Hint(
                only == nil ? "or all of them" : "or everywhere",
                run: "\(command) --forget\(last: account, limit: 200)"),
        ]
    }

    /// Returns the clients to sign out of; nil for all.
    private func clients(in session: Session) -> Set<String>? {
        if let clientId { return session.registry.clientIDs(clientId) }
        return forget || all || session.configuration.deviceMode == .shared
            ? nil : session.configuration.clientIDs(in: session.registry)
    }

    private func chosen(among known: KnownAccounts, in session: Session) async throws -> [KnownAccount] {
        if all { return known.all }
        if let account {
            let command: ShellCommand = "lanyard logout\(flag: "--browser", if: browser)"
            return [try known.account(typed: account, command: command)]
        }
        guard known.all.count > 1 else { return known.all }
        let choices = known.byUse
        if session.presence.hasTerminal {
            let menu = AccountMenu(
                console: session.context.console, title: "which account do you want to sign out?", offersAnother: false)
            switch await menu.choose(among: choices.map(\.account)) {
            case .account(let account): return choices.filter { $0.account == account }
            case .cancelled, .another: throw CommandError("no account was signed out", cause: .ofNoAnswer)
            case .unavailable: break
            }
        }
        let names = choices.map(\.account).namesApart.joined(separator: ", ")
        throw CommandError(
            "several accounts match: \(names)", hints: ["name the account, or give --all"], status: .usage)
    }

    private static func list(_ clients: [String]) -> String {
        clients.map { $0.displayable(limit: 64) }.joined(separator: ", ")
    }
}

// Ends an account's sign-in at the authority, after everything was removed from the keyring.
extension Session {
    /// Asks the authority to revoke the removed tokens; they stay removed here even if that fails.
    fileprivate func revoke(_ tokens: [RefreshTokenRecord], of known: KnownAccount) async {
        guard let ask = authority(of: known) else { return }
        for token in tokens {
            do throws(AcquisitionError) {
                try await acquirer.revoke(token, authority: ask.url, kind: ask.kind)
            } catch {
                guard let reason = CommandError.reason(error) else { continue }
                context.console.note("\(known.account.environment) did not revoke the tokens: \(reason)")
            }
        }
    }

    /// Opens the authority's sign-out page, or shows its URL if no browser can open.
    ///
    /// An authority without such a page gets a note rather than an error, because trying again wouldn't help.
    ///
    /// - Throws: `CommandError` if the authority can't be asked.
    fileprivate func endBrowserSession(
        of known: KnownAccount, idTokens: [IDTokenRecord], clientID: String?
    ) async throws(CommandError) {
        let account = known.account
        guard let ask = authority(of: known) else { throw CommandError(.unknownAuthority(""), sessionOf: account) }
        let token = idTokens.first { $0.clientID.clientKey == ask.clientID?.clientKey } ?? idTokens.first
        let page = SignOutPage(console: context.console, browser: browser)
        let client = token?.clientID ?? clientID ?? ask.clientID ?? known.clientIDs.first ?? ""
        do throws(AcquisitionError) {
            try await acquirer.endSession(
                of: account, idToken: token, clientID: client, authority: ask.url, kind: ask.kind, user: page)
        } catch {
            let failure = CommandError(error, sessionOf: account)
            guard case .plugin(let reason, _) = error, reason.code == .unsupported else { throw failure }
            context.console.note(failure)
        }
    }

    /// An authority with its kind and client in the configuration.
    private typealias Ask = (url: String, kind: String?, clientID: String?)

    /// Returns the authority that the account last signed in to, else a configured one that has the account; nil if
    /// there is neither.
    private func authority(of known: KnownAccount) -> Ask? {
        if let url = known.profiles.lazy.compactMap(\.authority).first {
            return configured.first { $0.url == url } ?? (url, nil, nil)
        }
        return configured.first { ask in
            acquirer.key(of: ask.url, kind: ask.kind).map { known.profiles.contains(where: $0.owns) } ?? false
        }
    }

    private var configured: [Ask] {
        let rules = configuration.rules.map { ($0.authority, $0.kind, configuration.clientID(of: $0)) }
        let all = rules + [configuration.authority].compactMap(\.self).map { ($0, nil, configuration.clientID(at: $0)) }
        return all.map { ($0.0, $0.1, registry.clientID($0.2, at: $0.0, kind: $0.1)) }
    }
}

/// Shows the sign-out page, which returns nothing that lanyard could wait for.
private struct SignOutPage: UserInterface {
    let console: Console
    /// The browser; nil if none can open here.
    let browser: Browser?

    func answer(_ event: PluginEvent) async -> PluginReply {
        guard case .openURL(let url, _) = event else { return .unsupported }
        if let browser, await browser.open(url) == nil {
            console.note("ending the browser's session: the sign-out page is open")
            return .done
        }
        console.note("to end the browser's session too, open this page in the browser:")
        console.show(url.displayable(limit: 32_768))
        return .done
    }

    func progress(_ message: String) async {}
}

extension CommandError {
    /// Creates the error for a browser session that could not be ended.
    fileprivate init(_ error: AcquisitionError, sessionOf account: AccountRecord) {
        self.init(
            "the browser's session at \(account.environment) was not ended: \(Self.reason(error) ?? "no plugin supports it")",
            hints: ["sign out on its page in the browser"])
    }

    /// Returns why a plugin didn't do it; nil if none was asked.
    fileprivate static func reason(_ error: AcquisitionError) -> Message? {
        switch error {
        case .plugin(let error, _): "\(error.message)"
        case .unusablePlugin(let problem, let name): CommandError(name, unusable: problem).message
        case .otherPlugin(let other):
            "they came from \(other.origin.map { "the \($0) plugin" } ?? "a plugin that ships with lanyard")"
        default: nil
        }
    }
}
