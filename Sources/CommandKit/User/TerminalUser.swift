import Addresses
import Claims
package import Keyring
import PluginHost
import PluginWire
import Secrets
import Synchronization
package import Terminal
package import TokenAcquisition

/// The user, reached through stderr, the terminal and the browser.
struct TerminalUser: UserInterface {
    let context: CommandContext
    let presence: Presence
    /// The browser; nil if none can open here, or if the user doesn't want one.
    let browser: Browser?
    /// The number of seconds that the user has.
    let patience: Int
    private let course = Course()

    /// The time after which the page's URL is shown in addition to opening the browser.
    private static let browserPatience = Duration.seconds(20)

    private var console: Console { context.console }

    func begin(_ request: PluginRequest) async {
        course.subject.withLock { $0 = SignInSubject(request) }
    }

    func end() async { ControllingTerminal.showTyping() }

    func answer(_ event: PluginEvent) async -> PluginReply {
        if let why = course.consumeReason() { tell(why) }
        return switch event {
        case .openURL(let url, let redirectURI): await open(url, redirectURI: redirectURI)
        case .showCode(let code, let page, let completePage, _, let expiresIn):
            show(code, page: page, completePage: completePage, expiresIn: expiresIn)
        case .openWindow(let program): expectWindow(of: program)
        case .prompt(let kind, let message): await prompt(kind, message)
        case .progress: .unsupported
        }
    }

    /// Shows what happens after the user's part if it takes a while, and why they are asked again.
    func progress(_ message: String) async {
        let text: Message = "\(message)"
        course.setReason(text)
        console.progress(text)
    }

    /// Shows a line that stays on the screen with what follows.
    private func tell(_ text: Message) {
        console.note(Hint(text))
        course.rows.withLock { $0 += console.rows(of: text) }
    }

    /// Returns what the user signs in to, at the page's host.
    private func subject(at url: String) -> SignInSubject {
        course.subject.withLock(\.self)?.at(url) ?? SignInSubject(place: url.displayedHost)
    }

    // MARK: A page

    private func open(_ url: String, redirectURI: String?) async -> PluginReply {
        let port = redirectURI.flatMap { RedirectURI($0)?.port }
        // If the redirect URI has no port on this machine, nothing listens there, and the plugin waits for the URL to be pasted.
        guard let browser, redirectURI == nil || port != nil else { return await openElsewhere(url, port: port) }
        let subject = subject(at: url)
        let text: Message = "opening your browser to sign in \(subject.text)"
        console.note(text, linking: subject.place, to: url)
        course.rows.withLock { $0 += console.rows(of: text) }
        let course = course
        let fault = await browser.open(url) { reason in course.fault.withLock { $0 = reason } }
        // The sign-in may end before the browser's command does.
        guard !Task.isCancelled else { return .done }
        if let fault {
            tell("the browser could not be opened: \(fault)")
            return .unsupported
        }
        console.countDown("waiting for your browser", seconds: patience, remindingAfter: Self.browserPatience) {
            let reason = course.fault.withLock { $0.map { "\($0); open this page" } }
            return "lanyard: \(reason ?? "if no page opened, open this one"):\n\(url.displayable(limit: 32_768))"
        }
        return .done
    }

    /// Asks the user to open the page, here or on another machine; the answer arrives at the port, or the user pastes
    /// it.
    private func openElsewhere(_ url: String, port: Int?) async -> PluginReply {
        let terminal = ControllingTerminal(console)
        // Without a terminal nothing can be pasted, but the user who asked to sign in can still open the page here.
        if terminal == nil, port == nil { return .unsupported }
        if course.shows(url) {
            console.note("to sign in \(subject(at: url).text), open this page in any browser:")
            console.show(url.displayable(limit: 32_768))
            if let port, presence.isRemote {
                console.note("if the browser is on another computer, run this there first:")
                console.show(context.tunnel(port: port).text)
            }
        }
        guard let terminal else {
            console.countDown("waiting for the browser", seconds: patience)
            return .done
        }
        let question =
            port == nil ? "paste the address of the last page" : "if the last page fails to load, paste its address"
        // The URL contains the answer, so it isn't echoed; nor is the right one, pasted while the plugin still judges a wrong one.
        let text = "lanyard: \(question) (hidden; \(patience.inWords)): "
        while let line = await terminal.ask(text, echo: false, staysHidden: true) {
            guard line.isEmpty else {
                console.progress("waiting for the plugin to check it")
                return .redirected(Secret(line))
            }
            console.note("nothing was pasted; Ctrl-C cancels")
        }
        return .cancelled
    }

    // MARK: A code

    /// Shows a code and a page; the picture leads to the page with the code filled in, if there is one at the same host,
    /// so that nothing has to be typed on a phone.
    private func show(_ code: String, page: String, completePage: String?, expiresIn: Int) -> PluginReply {
        let seconds = min(expiresIn, patience)
        let completePage = completePage.flatMap { $0.displayedHost == page.displayedHost ? $0 : nil }
        tell("to sign in \(subject(at: page).text), open this page on any device:")
        console.show(page.displayable(limit: 4096))
        if let picture = picture(of: completePage ?? page, besides: completePage == nil ? 3 : 5) {
            console.show(picture.text)
        }
        console.note("and enter this code, which is valid for \(seconds.inWords):")
        console.show(code.displayable(limit: 100))
        if let completePage {
            console.note("or open this page, and check that it shows the same code:")
            console.show(completePage.displayable(limit: 4096))
        }
        console.countDown("waiting for the code to be entered", seconds: seconds)
        return .done
    }

    /// Returns a picture that leaves room for the preceding lines, such as why the user is asked, and the rows around
    /// it.
    private func picture(of page: String, besides rows: Int) -> QRPicture? {
        QRPicture(page, fitting: console.screen, besides: course.rows.withLock(\.self) + rows)
    }

    // MARK: A window

    /// Announces another program's window, if the user can see it.
    private func expectWindow(of program: String) -> PluginReply {
        guard presence.hasDisplay else { return .unsupported }
        let name = program.displayable(limit: 100)
        let subject = course.subject.withLock { $0.map { " \($0.text)" } ?? "" }
        tell("sign in\(subject), in the window of \(name)")
        console.countDown("waiting for its window", seconds: patience)
        return .done
    }

    // MARK: A question

    private func prompt(_ kind: PluginEvent.PromptKind, _ message: String) async -> PluginReply {
        guard ControllingTerminal.isThere else { return .unsupported }
        let question = Prompt(console)
        let text: Message = "\(message)"
        let answer =
            switch kind {
            case .confirm: await question.decision(text, suggesting: false).map { $0 ? "yes" : "no" }
            case .secret: await question.line(text, echo: false, staysHidden: true)
            case .public: await question.line(text, echo: true)
            }
        guard let answer else { return .cancelled }
        return .answer(Secret(answer))
    }
}

extension CommandContext {
    /// Returns the command that forwards a port on the user's machine to the same port here.
    func tunnel(port: Int) -> ShellCommand {
        // "CLIENT PORT SERVER PORT", set by sshd: the address to which the user's ssh connected.
        let ends = (variable("SSH_CONNECTION") ?? "").pieces(between: " ").map(String.init)
        let host = ends.count == 4 ? ends[2] : "THIS-HOST"
        let user = (variable("USER") ?? variable("LOGNAME")).map { "\($0)@" } ?? ""
        let option = ends.count == 4 && ends[3] != "22" ? ends[3] : nil
        let ports = "\(port):localhost:\(port)"
        return "ssh -N -L \(ports)\(option: "-p", option)\(last: "\(user)\(host)", limit: 300)"
    }
}

/// The state of a conversation with a plugin.
private final class Course: Sendable {
    /// What the user signs in to.
    let subject = Mutex<SignInSubject?>(nil)
    /// The number of rows shown since the last reason, including the reason.
    let rows = Mutex(0)
    /// Why the browser's command failed while its page was waited for.
    let fault = Mutex<String?>(nil)
    /// The page that the user was last asked to open elsewhere.
    private let page = Mutex<String?>(nil)
    /// The plugin's last message, which is the reason for the next page or code, if there is one.
    private let reason = Mutex<Message?>(nil)

    func setReason(_ text: Message) {
        reason.withLock { $0 = text }
        rows.withLock { $0 = 0 }
    }

    func consumeReason() -> Message? { reason.withLock { $0.take() } }

    /// Notes the page to open; false if it is on the screen already, above the reason to paste again.
    func shows(_ url: String) -> Bool {
        page.withLock { shown in
            defer { shown = url }
            return shown != url
        }
    }
}

extension Int {
    /// A number of seconds in words: in whole minutes from two minutes on.
    fileprivate var inWords: String { self < 120 ? "\(self) seconds" : "\(self / 60) minutes" }
}

extension String {
    /// The host and port of a URL, fit to show.
    var displayedHost: String { StrictURL(self)?.host.urlText ?? displayable(limit: 255) }

    /// An authority's host and path, with shortened IDs.
    fileprivate var displayedPlace: String {
        withoutHTTPS.pieces(between: "/").map { String($0).displayable(limit: 100).shortened }.joined(separator: "/")
    }

    fileprivate var withoutHTTPS: String {
        utf8.starts(with: "https://".utf8) ? String(Substring(utf8.dropFirst("https://".utf8.count))) : self
    }

    /// The first digits of a UUID; any other text unchanged.
    fileprivate var shortened: String { isUUID ? String(prefix(8)) + "…" : self }
}

/// Asks the user at the terminal for an account.
package struct AccountMenu: AccountChooser {
    package let console: Console
    /// The question, fit to show.
    package var title: Message = "which account?"
    /// Whether the user may choose to sign in with another account.
    package var offersAnother = true

    package init(console: Console, title: Message = "which account?", offersAnother: Bool = true) {
        self.console = console
        self.title = title
        self.offersAnother = offersAnother
    }

    package func choose(among accounts: [AccountRecord]) async -> AccountChoice {
        guard ControllingTerminal.isThere, !accounts.isEmpty else { return .unavailable }
        guard let choice = await ask(accounts) else { return .cancelled }
        return choice < accounts.count ? .account(accounts[choice]) : .another
    }

    package func confirm(_ account: AccountRecord, at place: AuthorityKey) async {
        let text: Message = "using \(account.displayName) for \(place.displayedURL) from now on; to change that"
        console.note(Hint(text, run: "lanyard use"))
    }

    /// Asks until the user chooses or interrupts; returns the index of the account, or the number of accounts for
    /// another one.
    private func ask(_ accounts: [AccountRecord]) async -> Int? {
        let choices: [Message] =
            accounts.labels.map { "\($0)" } + (offersAnother ? ["sign in with another account"] : [])
        let (interruptions, interrupted) = AsyncStream.makeStream(of: Void.self)
        // Watch first: once the terminal is taken, it passes signals on to the handlers that it finds.
        let watch = Interrupts.watch { interrupted.finish() }
        let choice = await withTaskGroup(of: Int?.self) { group in
            group.addTask { [console, title] in
                await Prompt(console).choice(title, among: choices) { name in
                    let named = accounts.indices.filter { accounts[$0].isNamed(name) }
                    return named.count == 1 ? named[0] : nil
                }
            }
            group.addTask {
                for await _ in interruptions {}
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        watch.cancel()
        await watch.value
        return choice
    }
}

/// What the user signs in to, in a line or two.
struct SignInSubject: Sendable {
    /// The authority, or the host of the page that is shown for it.
    var place: String
    /// Who signs in, for what, and with which application.
    private var details = ""

    init(place: String) {
        self.place = place
    }

    init(_ request: PluginRequest) {
        place = request.authority.displayedPlace
        let account = request.signIn.loginHint.map { " as \($0.displayable(limit: 100))" } ?? ""
        let purpose = request.purpose.map { " for \($0.displayable(limit: 300).withoutHTTPS)" } ?? ""
        let client = request.clientName?.displayable(limit: 60) ?? request.clientID.displayable(limit: 60).shortened
        details = "\(account)\(purpose) (app \(client))"
    }

    /// Returns the subject for a page; if its host isn't the authority's, both are shown.
    func at(_ page: String) -> SignInSubject {
        var subject = self
        let host = page.displayedHost
        if place.cut(at: "/").map({ $0.0 }) ?? Substring(place) != host {
            subject.place = host
            subject.details = ", on behalf of \(place)\(details)"
        }
        return subject
    }

    /// A description such as `at login.example/contoso as alice@contoso.example for git.example/app (app tools)`.
    var text: String { "at \(place)\(details)" }
}
