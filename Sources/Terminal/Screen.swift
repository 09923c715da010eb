import Glibc
package import SystemPackage

/// The terminal behind stderr, if there is one, and what it can show.
package struct Screen: Sendable {
    private let descriptor: FileDescriptor
    private let environment: [String: String]

    /// Creates the screen behind a stream.
    package init(_ descriptor: FileDescriptor, environment: [String: String]) {
        self.descriptor = descriptor
        self.environment = environment
    }

    /// Whether lines can be redrawn: it is a terminal, and not a dumb one.
    package var isTerminal: Bool { isatty(descriptor.rawValue) == 1 && hasAbilities }

    /// Whether to use colours: no if `NO_COLOR` is set, else yes if `CLICOLOR_FORCE` is, else if it is a terminal
    /// without `CLICOLOR=0`.
    package var hasColours: Bool {
        if variable("NO_COLOR") != nil { return false }
        if let force = variable("CLICOLOR_FORCE"), force != "0" { return true }
        return isTerminal && variable("CLICOLOR") != "0"
    }

    /// Whether links can be written; terminals without support ignore them, except for the kernel's console.
    package var hasLinks: Bool { isTerminal && variable("TERM") != "linux" }

    /// Whether UTF-8 text shows correctly.
    package var isUTF8: Bool {
        let locale = (variable("LC_ALL") ?? variable("LC_CTYPE") ?? variable("LANG") ?? "").uppercased()
        return locale.hasSuffix("UTF-8") || locale.hasSuffix("UTF8")
    }

    /// The size in columns and rows; nil if it isn't known.
    package var size: (columns: Int, rows: Int)? {
        var size = winsize()
        guard ioctl(descriptor.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return nil
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// The width to lay lines out for, in columns; nil if it isn't a terminal, and its reader wants whole lines.
    package var columns: Int? { isatty(descriptor.rawValue) == 1 ? size?.columns : nil }

    private var hasAbilities: Bool { variable("TERM").map { $0 != "dumb" } ?? false }

    private func variable(_ name: String) -> String? {
        environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
