import Addresses
import CredentialEngine
import Files
package import Keyring
import Model
package import PluginWire
package import Rules
import SealedKeyring
import Secrets
import SettingsFile
import Synchronization
package import Terminal
package import TokenAcquisition

/// Finds the user at the terminal or in front of the screen.
struct LocalPrompter: UserPrompter {
    let context: CommandContext
    let configuration: Configuration
    let presence: Presence
    let browser: Browser?

    private var store: RecordStore {
        RecordStore(configuration: KeyringConfiguration(context.keyring, group: configuration.group))
    }

    func mayAsk(for url: String?) -> Bool { presence.isSomebodyThere }

    func user(for url: String?) async -> TokenAcquirer.User? {
        guard mayAsk(for: url) else { return nil }
        if let url, await GitConfiguration(context).forbidsPrompts(for: url) { return nil }
        let interface = TerminalUser(
            context: context, presence: presence, browser: browser, patience: configuration.timeout)
        let title: Message = url.map { "which account for \($0)?" } ?? "which account?"
        let chooser = presence.hasTerminal ? AccountMenu(console: context.console, title: title) : nil
        var user = TokenAcquirer.User(
            interface: interface, flows: presence.flows(configuration), chooser: chooser,
            purpose: url?.displayable(limit: 300), announce: context.requester.map { announcing($0, url) })
        if chooser != nil { user.pick = pick }
        return user
    }

    /// Has the user pick a value that a rule of theirs leaves open, and writes it into the rule.
    private func pick(_ error: PluginError, for request: TokenRequest) async -> String? {
        let tables = ConfigurationTables(context: context, scope: .user, configuration: configuration)
        guard let parameter = error.parameter, ControllingTerminal.isThere, case .rule(let pattern) = request.origin,
            let rule = configuration.rules.first(where: { $0.pattern.text == pattern }), rule.file == tables.file
        else { return nil }
        let console = context.console
        console.endProgress()
        let values = error.choices.map { $0.cut(at: " ").map { String($0.0) } ?? $0 }
        let choice = await Prompt(console).choice(
            "\(error.message); which \(parameter) is it to be?", among: error.choices.map { "\($0)" }
        ) { name in values.firstIndex { $0.isSame(as: name) } }
        guard let choice else { return nil }
        var changed = rule
        changed.exchangeParameters[parameter] = values[choice]
        do throws(CommandError) {
            try tables.changing { (file: TableFile<Rule>) throws(SettingsError) in
                try file.replace(rule, with: changed)
            }
            console.note("the rule for \(pattern) has it from now on, at \(rule.place(context))")
        } catch {
            console.note("it counts for this time only: \(error.message)")
        }
        return values[choice]
    }

    /// Says who asks for a sign-in, the first time that it is called.
    private func announcing(
        _ requester: Requester, _ url: String?
    ) -> @Sendable () async throws(AcquisitionError) -> Void {
        let isDone = Mutex(false)
        return { [context] () async throws(AcquisitionError) in
            let wasDone = isDone.withLock { done in
                defer { done = true }
                return done
            }
            if !wasDone { try await requester.announce(url, in: context) }
        }
    }

    /// Whether there is a terminal to ask for the keyring's password, or whether to make a keyring.
    var mayAskToUnlock: Bool {
        presence.isSomebodyThere && ControllingTerminal.isThere && !presence.keyringAsks(store, in: context)
    }

    func unlockKeyring(for url: String?) async -> Bool {
        context.console.endProgress()
        guard mayAskToUnlock, await context.requester?.waitForTurn(in: context) ?? true else { return false }
        if let url, await GitConfiguration(context).forbidsPrompts(for: url) { return false }
        do throws(CommandError) {
            if context.sealedKeyring?.exists != true, store.problem()?.isAbsent == true {
                return try await SealedKeyringSetup(context, configuration).offer()
            }
            let unlocker = try KeyringUnlocker(context, group: configuration.group)
            context.console.note(
                unlocker.makesFirst
                    ? "there is no keyring yet; a password creates one, Enter creates none"
                    : "the keyring is locked; its password unlocks it, Enter leaves it locked")
            let isOpen = try await unlocker.openAtTerminal(context)
            if !isOpen { context.requester?.noteDecline(in: context) }
            return isOpen
        } catch  where KeyringUnlocker.retypable.contains(error) {
            context.console.note(Hint(error.message))
        } catch {
            // The error that led here says what is wrong with the keyring.
        }
        return false
    }
}

/// Whether and how the user can be reached.
///
/// A browser needs a display or `$BROWSER`, a code or a pasted URL needs a terminal. `GIT_TERMINAL_PROMPT=0`, `CI` or
/// `--non-interactive` mean that there is no user, whatever else is set.
package struct Presence: Sendable, Equatable {
    /// Whether a terminal can show messages and ask questions.
    package var hasTerminal = false
    /// Whether a browser can be opened here.
    package var hasBrowser = false
    /// Whether the user wants no browser to be opened here.
    var refusesBrowser = false
    /// Whether a window can open in front of the user; over SSH it would open on another screen.
    package var hasDisplay = false
    /// Whether the session came over SSH.
    package var isRemote = false

    /// Whether the user can be reached at all.
    package var isSomebodyThere: Bool { hasTerminal || hasBrowser }

    package static let nobody = Presence()

    private init() {}

    /// Determines how the user can be reached.
    ///
    /// A command by which the user requests to be asked, such as `login`, needs no terminal, because its messages show
    /// on stderr. `browser` is the configured command, or `Configuration.noBrowser`.
    package init(_ context: CommandContext, browser: String?, isInteractive: Bool, isAskedFor: Bool) {
        guard isInteractive, context.silencingVariable == nil else { return }
        isRemote = context.variable("SSH_CONNECTION") != nil
        hasTerminal = isAskedFor || ControllingTerminal.isThere
        hasDisplay = !isRemote && (context.variable("DISPLAY") != nil || context.variable("WAYLAND_DISPLAY") != nil)
        let named = browser ?? context.variable("BROWSER")
        refusesBrowser = named == Configuration.noBrowser
        hasBrowser = !refusesBrowser && (named != nil || hasDisplay || (context.isInWSL && !isRemote))
    }

    /// Whether the keyring asks the user in a window of its own; only a keyring service that runs does.
    package func keyringAsks(_ store: RecordStore, in context: CommandContext) -> Bool {
        hasDisplay && context.sealedKeyring == nil && store.problem()?.isAbsent != true
    }

    /// Returns the ways to sign in, best first; if the page is opened elsewhere, pasting comes first, because the
    /// answer is in the URL then.
    package func flows(_ configuration: Configuration) -> [PluginRequest.Flow] {
        // The broker's window needs a screen.
        let broker: [PluginRequest.Flow] = configuration.mayUseBroker && hasDisplay ? [.broker] : []
        return switch configuration.flow {
        case .broker: [.broker]
        case .browser: hasBrowser ? [.browser, .paste] : [.paste, .browser]
        case .deviceCode: [.deviceCode]
        case .automatic where hasBrowser: broker + [.browser, .deviceCode, .paste]
        case .automatic where refusesBrowser:
            broker + [.paste, .browser, .deviceCode]
        case .automatic: broker + [.deviceCode, .paste]
        }
    }
}

extension CommandContext {
    /// The variable that says that nobody is there, whatever else is set; nil if none does.
    package var silencingVariable: String? {
        ["CI", "GIT_TERMINAL_PROMPT", "LANYARD_INTERACTIVE"].first { boolean($0) == ($0 == "CI") }
    }

    /// Whether this is Linux in Windows.
    package var isInWSL: Bool { variable("WSL_DISTRO_NAME") != nil }
}

extension Prompt {
    /// Creates a prompt; nil if there is no terminal, or if the user shouldn't be asked.
    package init?(_ context: CommandContext) {
        let presence = Presence(context, browser: nil, isInteractive: true, isAskedFor: false)
        guard presence.hasTerminal else { return nil }
        self.init(context.console)
    }
}

extension Console {
    /// Shows the progress of acquiring a token if a step takes longer than a second.
    package func tell(_ what: AcquisitionProgress) {
        switch what {
        case .usingKeyring: progress("waiting for the keyring; it may ask for its password in a window")
        // The user has already waited for a while.
        case .waitingForAnother(let process, let work): tell(ofWaitFor: process, work)
        // What is stored is read several times.
        case .skippingDamaged:
            noteOnce(
                Hint("damaged items in the keyring are left out; to remove them", run: "lanyard cache clear --damaged"))
        case .renewing(let authority):
            progress("renewing the token at \(authority.displayedHost)", orSayingAfter: .seconds(10))
        case .signedIn(let account):
            note("signed in as \(account.displayName)\(account.broker == nil ? "" : ", by the machine's broker")")
        case .withoutUserInfo(let reason): note("there are no claims of userinfo: \(reason, limit: 300)")
        case .askingBroker: progress("asking the machine's broker for a token")
        case .authenticating(let authority):
            progress("getting a token from \(authority.displayedHost)", orSayingAfter: .seconds(10))
        case .exchanging(let host):
            progress("asking \(host.displayable(limit: 255)) to exchange the token", orSayingAfter: .seconds(10))
        case .startingSignIn(let authority): progress("asking \(authority.displayedHost) for its sign-in page")
        }
    }

    /// Names the process that is waited for: at once on a terminal or if it has been stopped, else if it takes long.
    private func tell(ofWaitFor process: Int32?, _ work: SharedWork) {
        let text: Message = "waiting for another lanyard to \(work.displayed)\(process.map { " (pid \($0))" } ?? "")"
        if let process, LockHolder.isStopped(process) {
            noteOnce(
                Hint(
                    "\(text), which is stopped; to let it go on",
                    run: ShellCommand(words: ["kill", "-CONT", String(process)])))
        }
        progress(text, after: .zero, orSayingAfter: .seconds(10))
    }
}

extension SharedWork {
    fileprivate var displayed: String {
        switch self {
        case .signIn: "sign in"
        case .renewal: "renew the token"
        case .authentication: "get the token"
        case .exchange: "exchange the token"
        }
    }
}
