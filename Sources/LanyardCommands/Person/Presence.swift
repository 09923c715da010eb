import Rules
import Terminal

/// Whether and how the user can be reached.
///
/// A browser needs a display or `$BROWSER`, a code or a pasted URL needs a terminal. `GIT_TERMINAL_PROMPT=0`, `CI` or
/// `--non-interactive` mean that there is no user, whatever else is set.
struct Presence: Sendable, Equatable {
    /// Whether a terminal can show messages and ask questions.
    var hasTerminal = false
    /// Whether a browser can be opened here.
    var hasBrowser = false
    /// Whether the user wants no browser to be opened here.
    var refusesBrowser = false
    /// Whether a window can open in front of the user; over SSH it would open on another screen.
    var hasDisplay = false
    /// Whether the session came over SSH.
    var isRemote = false

    /// Whether the user can be reached at all.
    var isSomebodyThere: Bool { hasTerminal || hasBrowser }

    static let nobody = Presence()

    private init() {}

    /// Determines how the user can be reached.
    ///
    /// A command by which the user requests to be asked, such as `login`, needs no terminal, because its messages show
    /// on stderr. `browser` is the configured command, or `Configuration.noBrowser`.
    init(_ context: CommandContext, browser: String?, isInteractive: Bool, isAskedFor: Bool) {
        guard isInteractive, context.silencingVariable == nil else { return }
        isRemote = context.variable("SSH_CONNECTION") != nil
        hasTerminal = isAskedFor || ControllingTerminal.isThere
        hasDisplay = !isRemote && (context.variable("DISPLAY") != nil || context.variable("WAYLAND_DISPLAY") != nil)
        let named = browser ?? context.variable("BROWSER")
        refusesBrowser = named == Configuration.noBrowser
        hasBrowser = !refusesBrowser && (named != nil || hasDisplay || (context.isInWSL && !isRemote))
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
    /// Creates a prompt; nil if there is no terminal, or if the user shouldn't be asked.
    init?(_ context: CommandContext) {
        let presence = Presence(context, browser: nil, isInteractive: true, isAskedFor: false)
        guard presence.hasTerminal else { return nil }
        self.init(context.console)
    }
}
