import Glibc

/// How wide the terminal is that stdout goes to.
package enum OutputWidth {
    /// The columns of the terminal; nil if stdout is none, and what reads it wants everything.
    package static var ofTerminal: Int? {
        var size = winsize()
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col >= 40
        return isKnown ? Int(size.ws_col) : 80
    }
}
