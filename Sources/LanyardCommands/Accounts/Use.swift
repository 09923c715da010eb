import ArgumentParser
import CredentialProtocol
import Glibc
import Rules
import TokenAcquisition
import TokenStore

/// `lanyard use`.
struct Use: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Choose the account that is used from now on.",
        discussion: """
            It is used where nothing names another. `-` goes back to the one used before. Without an account it asks \
            you at a terminal, and elsewhere prints the current one.
            """)

    @Argument(help: "The account, by user name or identifier, or `-`.")
    var account: String?

    @Argument(help: "A URL that a rule maps: only accounts of its authority.")
    var url: String?

    @OptionGroup var place: PlaceOptions

    @Flag(help: "Never ask; without an account, print the current one.")
    var nonInteractive = false

    mutating func run() async throws {
        let session = try Session(options: .init(isInteractive: !nonInteractive))
        let known = try session.accounts().at(try place.place(url, in: session))
        guard !known.all.isEmpty else { throw Failure.nobodyIsSignedIn }
        guard let account else { return try await choose(among: known, in: session) }
        guard account == "-" else {
            return try use(try known.account(named: account, command: "lanyard use"), in: session)
        }
        guard let previous = known.previous else {
            throw Failure("no account was used before", hints: [Hint("see", run: "lanyard accounts")])
        }
        try use(previous, in: session)
    }

    private func choose(among known: KnownAccounts, in session: Session) async throws {
        if session.presence.hasTerminal, isatty(STDOUT_FILENO) == 1 {
            var picker = AccountPicker(console: session.context.console)
            picker.offersAnother = false
            switch await picker.choose(among: known.byUse.map(\.account)) {
            case .account(let account): return try use(account, in: session)
            case .cancelled, .another: throw Failure("no account was chosen", cause: .ofNoAnswer)
            case .unavailable: break
            }
        }
        guard let current = known.current else {
            throw Failure(
                "no account has been chosen yet",
                hints: known.byUse.map { Hint("choose one", run: $0.account.useCommand) })
        }
        session.context.console.print(current.account.nameForPeople)
    }

    private func use(_ known: KnownAccount, in session: Session) throws(Failure) {
        try use(known.account, in: session)
    }

    private func use(_ account: AccountRecord, in session: Session) throws(Failure) {
        let console = session.context.console
        try session.select(account)
        console.note("using \(account.nameForPeople) from now on")
        if session.configuration.deviceMode == .shared, try session.accounts().all.count > 1 {
            console.note("this device is shared: sign the other accounts out, or none is used by itself")
        }
        guard let fixed = session.configuration.account, !account.isNamed(fixed) else { return }
        console.note("but the configuration's `account` names \(fixed.displayable(limit: 200)), and wins over it")
    }
}

extension AccountRecord {
    /// The command that chooses it.
    var useCommand: ShellCommand { "lanyard use\(last: nameForPeople)" }
}

extension Failure {
    static let nobodyIsSignedIn = Failure("nobody is signed in", hints: [Hint("sign in", run: "lanyard login URL")])
}
