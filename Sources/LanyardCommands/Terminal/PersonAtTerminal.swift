import AuthorityPlugin
import CredentialProtocol

/// The person, reached through stderr, the terminal and the browser.
struct PersonAtTerminal: PersonInterface {
    let console: Console
    let presence: Presence
    /// Nil where no browser can open here, or the person asked for none.
    let browser: Browser?

    func answer(_ event: PluginEvent) async -> PluginReply {
        switch event {
        case .openURL(let url, let redirectURI): await open(url, redirectURI: redirectURI)
        case .showCode(let code, let page, _, let expiresIn): show(code, page: page, expiresIn: expiresIn)
        case .prompt(let kind, let message): await prompt(kind, message)
        case .progress: .unsupported
        }
    }

    private func open(_ url: String, redirectURI: String?) async -> PluginReply {
        let host = url.hostForPeople
        // A redirect without a port leads nowhere: the plugin waits for the address to be pasted.
        guard let port = redirectURI?.portOfURL else {
            guard let terminal = Terminal() else { return .unsupported }
            console.note("to sign in to \(host), open this page in any browser:")
            show(url)
            return await pasted(at: terminal, "then paste the address that the browser ends at: ")
        }
        if let browser {
            console.note("opening your browser to sign in to \(host); if it does not open, go to:")
            show(url)
            let isOpened = await browser.open(url)
            // The sign-in may be over before the browser's command is.
            if isOpened || Task.isCancelled { return .done }
            console.note("the browser could not be opened")
            return .unsupported
        }
        guard let terminal = Terminal() else { return .unsupported }
        console.note("to sign in to \(host), open this page in a browser:")
        show(url)
        if presence.isRemote {
            console.note("to be led back here by itself, run on the machine with the browser first:")
            console.note("  ssh -N -L \(port):localhost:\(port) THIS-HOST")
        }
        return await pasted(at: terminal, "if it ends at a page that does not open, paste that page's address: ")
    }

    /// Waits for the address that a browser was led to; it holds the answer, so it is not echoed.
    private func pasted(at terminal: borrowing Terminal, _ question: String) async -> PluginReply {
        guard let line = await terminal.ask("lanyard: \(question)", echo: false) else { return .cancelled }
        return line.isEmpty ? .done : .redirected(Secret(line))
    }

    private func show(_ url: String) {
        console.note("  \(url.displayable(limit: 8192))")
    }

    private func show(_ code: String, page: String, expiresIn: Int) -> PluginReply {
        console.note("to sign in, open \(page.displayable(limit: 500)) in any browser and enter the code")
        console.note("  \(code.displayable(limit: 100))")
        console.note("waiting; the code is good for \(max(1, expiresIn / 60)) minutes")
        return .done
    }

    private func prompt(_ kind: PluginEvent.PromptKind, _ message: String) async -> PluginReply {
        guard let terminal = Terminal() else { return .unsupported }
        let text = message.displayable(limit: 500)
        let question = kind == .confirm ? "lanyard: \(text) [y/N] " : "lanyard: \(text): "
        guard let line = await terminal.ask(question, echo: kind != .secret) else { return .cancelled }
        guard kind == .confirm else { return .answer(Secret(line)) }
        return .answer(Secret(["y", "yes"].contains(line.lowercased()) ? "yes" : "no"))
    }

    /// Shows nothing: a sign-in takes a second once the person is back.
    func progress(_ message: String) async {}
}

extension String {
    /// The host and port of a URL, fit to show.
    fileprivate var hostForPeople: String {
        let rest = firstRange(of: "://").map { self[$0.upperBound...] } ?? self[...]
        return String(rest.prefix { !"/?#".contains($0) }).displayable(limit: 255)
    }

    /// The port of a URL that names one.
    fileprivate var portOfURL: Int? {
        let rest = firstRange(of: "://").map { self[$0.upperBound...] } ?? self[...]
        return RequestHost(String(rest.prefix { !"/?#".contains($0) }))?.port
    }
}
