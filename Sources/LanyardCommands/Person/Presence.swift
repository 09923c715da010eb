import Rules
import Terminal

/// Whether somebody is there to be asked, and how they can be reached.
///
/// The environment is asked last: a browser needs a display or a `$BROWSER`, a code or a pasted link needs a terminal,
/// and `GIT_TERMINAL_PROMPT=0`, `CI` or `--non-interactive` say that nobody is there whatever else is set.
struct Presence: Sendable, Equatable {
    /// Whether a terminal can show and ask.
    var hasTerminal: Bool
    /// Whether a browser can be opened here.
    var hasBrowser: Bool
    /// Whether a window can open before the person; over SSH it would show on somebody else's screen.
    var hasDisplay: Bool
    /// Whether the session came over SSH.
    var isRemote: Bool

    /// Whether anybody can be asked at all.
    var isSomebodyThere: Bool { hasTerminal || hasBrowser }

    static let nobody = Presence(hasTerminal: false, hasBrowser: false, hasDisplay: false, isRemote: false)

    /// Looks around.
    ///
    /// A command that is itself the wish to be asked, such as `login`, needs no terminal: what it says shows on stderr.
    /// `browser` is the configured command, or `Configuration.noBrowser`.
    init(_ context: CommandContext, browser: String?, isInteractive: Bool, isAskedFor: Bool) {
        guard isInteractive, context.silencingVariable == nil else {
            self = .nobody
            return
        }
        isRemote = context.variable("SSH_CONNECTION") != nil
        hasTerminal = isAskedFor || ControllingTerminal.isThere
        hasDisplay = !isRemote && (context.variable("DISPLAY") != nil || context.variable("WAYLAND_DISPLAY") != nil)
        let named = browser ?? context.variable("BROWSER")
        hasBrowser =
            browser != Configuration.noBrowser && (named != nil || hasDisplay || (context.isInWSL && !isRemote))
    }

    private init(hasTerminal: Bool, hasBrowser: Bool, hasDisplay: Bool, isRemote: Bool) {
        self.hasTerminal = hasTerminal
        self.hasBrowser = hasBrowser
        self.hasDisplay = hasDisplay
        self.isRemote = isRemote
    }
}

extension CommandContext {
    /// The variable that says that nobody is there, whatever else is set; nil if none does.
    var silencingVariable: String? {
        ["CI", "GIT_TERMINAL_PROMPT", "LANYARD_INTERACTIVE"].first { boolean($0) == ($0 == "CI") }
    }

    /// Whether this is Linux in Windows.
    var isInWSL: Bool { variable("WSL_DISTRO_NAME") != nil }
}

extension Prompt {
    /// Asks the person at the terminal; nil if there is none, or nobody is to be asked.
    init?(_ context: CommandContext) {
        let presence = Presence(context, browser: nil, isInteractive: true, isAskedFor: false)
        guard presence.hasTerminal else { return nil }
        self.init(context.console)
    }
}
