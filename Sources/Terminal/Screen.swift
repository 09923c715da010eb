import Glibc
package import SystemPackage

/// What the person sees: stderr, if it is a terminal, and what that terminal can show.
package struct Screen: Sendable {
    private let descriptor: FileDescriptor
    private let environment: [String: String]

    /// The screen behind a stream, in this environment.
    package init(_ descriptor: FileDescriptor, environment: [String: String]) {
        self.descriptor = descriptor
        self.environment = environment
    }

    /// Whether lines can be drawn over: a terminal that knows more than to print.
    package var isTerminal: Bool { isatty(descriptor.rawValue) == 1 && hasAbilities }

    /// Whether to use colours: `NO_COLOR` says no, then `CLICOLOR_FORCE` yes, then `CLICOLOR=0` no; else a terminal has them.
    package var hasColours: Bool {
        if variable("NO_COLOR") != nil { return false }
        if let force = variable("CLICOLOR_FORCE"), force != "0" { return true }
        return isTerminal && variable("CLICOLOR") != "0"
    }

    /// Whether links can be written: terminals that don't show them pass over them, but for the kernel's own.
    package var hasLinks: Bool { isTerminal && variable("TERM") != "linux" }

    /// Whether text in UTF-8 shows as it is meant.
    package var isUTF8: Bool {
        let locale = (variable("LC_ALL") ?? variable("LC_CTYPE") ?? variable("LANG") ?? "").uppercased()
        return locale.hasSuffix("UTF-8") || locale.hasSuffix("UTF8")
    }

    /// Columns and rows; nil if nobody knows.
    package var size: (columns: Int, rows: Int)? {
        var size = winsize()
        guard ioctl(descriptor.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return nil
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// The columns that lines are laid out for; nil if there is no terminal, and what reads them wants them whole.
    package var columns: Int? { isatty(descriptor.rawValue) == 1 ? size?.columns : nil }

    private var hasAbilities: Bool { variable("TERM").map { $0 != "dumb" } ?? false }

    private func variable(_ name: String) -> String? {
        environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
