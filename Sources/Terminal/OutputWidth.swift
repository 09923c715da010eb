import Glibc

/// The width of the terminal behind stdout.
package enum OutputWidth {
    /// The number of columns; nil if stdout is not a terminal, and its reader wants whole lines.
    package static var ofTerminal: Int? {
        var size = winsize()
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col >= 40
        return isKnown ? Int(size.ws_col) : 80
    }
}
