import Rules
import Secrets
import Terminal

extension Examination {
    /// Checks how a user can be asked to sign in from here.
    var personFindings: [Finding] {
        if isForIdentities {
            return [.pass("sign-in", "nobody is asked here: applications and machines sign in without a person")]
        }
        if presence == .nobody, let name = context.silencingVariable {
            let text = "lanyard never prompts here, because of \(name)"
            let person = Hint(run: "env -u \(name) lanyard login URL")
            guard name == "CI" else { return [.warn("sign-in", text, person)] }
            let application = Hint("as an application", run: "lanyard configure git --identity environment")
            return [.warn("sign-in", text, application, person)]
        }
        return [place].compactMap(\.self) + [browser, terminal]
    }

    private var place: Finding? {
        if presence.isRemote { return .pass("place", "over SSH: sign in with a code, or a browser elsewhere") }
        if context.isInWSL { return .pass("place", "WSL: Windows' browser is used") }
        return context.isInContainer ? .pass("place", "in a container: sign in with a code, or set BROWSER") : nil
    }

    private var browser: Finding {
        let name = "browser"
        guard presence.hasBrowser else {
            return .pass(name, "none can open here; you get a code to enter on any device")
        }
        let named = configuration.browser ?? context.variable("BROWSER")
        let browser = Browser(context, configured: configuration.browser)
        if let mistake = browser.mistake { return .fail(name, mistake) }
        if let fault = browser.fault {
            return .fail(
                name, "none opens: \(fault)", "make it yours or root's, and let no one else write to it")
        }
        let commands = browser.commands.compactMap(\.first)
        guard let command = commands.first(where: { context.program($0) != nil }) else {
            let tried = commands.map { $0.displayable(limit: 60) }.joined(separator: ", ")
            return .warn(
                name, "none opens: \(tried) \(commands.count == 1 ? "is" : "are") not installed",
                named == nil
                    ? Package.xdgUtils.hint()
                    : "set BROWSER or browser to a command that exists")
        }
        return .pass(name, "opens with \(command.displayable(limit: 100))")
    }

    private var terminal: Finding {
        if presence.hasTerminal { return .pass("terminal", "there is one") }
        if presence.hasBrowser { return .pass("terminal", "there is none; the browser opens without one") }
        return .warn(
            "terminal", "there is none, so git cannot ask you to sign in from here",
            Hint("sign in beforehand; codes are shown on standard error", run: "lanyard login URL"))
    }
}

extension CommandContext {
    /// Whether this looks like a container.
    var isInContainer: Bool {
        isFile("/.dockerenv") || isFile("/run/.containerenv") || variable("REMOTE_CONTAINERS") != nil
            || variable("CODESPACES") != nil
    }
}
