import Addresses
import ArgumentParser
import CommandKit
import Glibc
import Keyring
import Model
import Rules
import Secrets
import Terminal
import TokenAcquisition

struct UseCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "use", abstract: "Choose the account to use from now on.",
        discussion: """
            It is used if nothing names another and the authority accepts it; with a URL or an authority, only \
            there. `-` goes back to the account used before. Without an account, lanyard asks you at a terminal; elsewhere \
            it prints the account in use.
            """)

    static let examples: KeyValuePairs = [
        "Work as another account, then go back": """
        lanyard use admin@contoso.com
        lanyard use -
        """,
        "Use an account for one URL's authority only": "lanyard use alice@contoso.com \(Example.url)",
    ]

    @Argument(help: "The account: a user name or an identifier, or the beginning of one; or `-`.")
    var account: String?

    @Argument(help: "A URL that a rule maps: choose for its authority only.")
    var url: String?

    @OptionGroup var place: AuthorityOptions

    @Flag(help: "Never prompt; without an account, print the one in use.")
    var nonInteractive = false

    mutating func run(in context: CommandContext) async throws {
        // No account's name looks like a URL.
        if url == nil, account?.hasBytes("://") == true { (account, url) = (nil, account) }
        let session = try Session(context, options: .init(isInteractive: !nonInteractive))
        let named = try place.place(url, in: session)
        let known = try await session.accounts(at: named)
        guard !known.all.isEmpty || account != nil && !known.elsewhere.isEmpty else {
            throw CommandError.nobodyIsSignedIn
        }
        guard let account else { return try await choose(among: known, at: named?.place, in: session) }
        guard account == "-" else {
            let found = try known.account(typed: account, command: "lanyard use")
            return try await use(found.account, at: named?.place ?? known.issuer(of: found.account), in: session)
        }
        guard let previous = known.previous else {
            throw CommandError("no account was used before", hints: [Hint("see", run: "lanyard status --accounts")])
        }
        try await use(previous.account.account, at: previous.place, in: session)
    }

    private func choose(among known: KnownAccounts, at place: AuthorityKey?, in session: Session) async throws {
        if session.presence.hasTerminal, isatty(STDOUT_FILENO) == 1 {
            if known.all.count == 1 {
                let only = known.all[0].account
                return try await use(only, at: place ?? known.issuer(of: only), in: session)
            }
            var menu = AccountMenu(console: session.context.console)
            menu.offersAnother = false
            switch await menu.choose(among: known.byUse.map(\.account)) {
            case .account(let account):
                return try await use(account, at: place ?? known.issuer(of: account), in: session)
            case .cancelled, .another: throw CommandError("no account was chosen", cause: .ofNoAnswer)
            case .unavailable: break
            }
        }
        guard let current = known.current else { throw CommandError(noneChosenAmong: known) }
        session.context.console.print(current.account.displayName)
    }

    private func use(_ account: AccountRecord, at place: AuthorityKey?, in session: Session) async throws(CommandError)
    {
        let console = session.context.console
        try session.select(account, at: place)
        let name = account.displayName
        console.note("using \(name)\(place.map { " for \($0.displayedURL)" } ?? "") from now on")
        if session.configuration.deviceMode == .shared, try await session.accounts().all.count > 1 {
            console.note(.othersOnSharedDevice)
        } else if place == nil {
            try await tellOthers(than: account, in: session)
        }
        guard let fixed = session.configuration.account, !account.isNamed(fixed) else { return }
        console.note("but the configuration's `account` names \(fixed), and takes precedence")
    }

    /// Reports where other accounts stay in use, because it isn't known whether the authority accepts this one.
    private func tellOthers(than account: AccountRecord, in session: Session) async throws(CommandError) {
        let known = try await session.accounts()
        guard let own = known.all.first(where: { $0.profiles.contains(account) }) else { return }
        for other in known.places(butFor: own) {
            let place = other.place.displayedURL
            let text: Message = "\(other.account.account.displayName) stays in use for \(place); to change that"
            session.context.console.note(
                Hint(text, run: "lanyard use\(option: "--authority", place)\(last: known.name(of: own), limit: 200)"))
        }
    }
}

extension CommandError {
    /// Creates the error if no account is in use.
    fileprivate init(noneChosenAmong known: KnownAccounts) {
        guard known.all.contains(where: known.isUsed) else {
            self.init(
                "no account has been chosen yet",
                hints: known.byUse.map { Hint("choose one", run: .using(account: known.name(of: $0))) })
            return
        }
        self.init(
            "which account is used depends on the authority",
            hints: [Hint("see", run: "lanyard status --accounts"), Hint("or ask for one URL", run: "lanyard use URL")])
    }

    static let nobodyIsSignedIn = CommandError(
        "nobody is signed in", hints: [Hint("sign in", run: "lanyard login URL")])
}

extension Hint {
    /// What a choice of an account comes to on a shared device.
    static let othersOnSharedDevice: Hint =
        "this device is shared: sign out the other accounts, or none is used by default"
}
