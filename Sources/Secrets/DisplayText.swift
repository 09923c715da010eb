extension String {
    /// Returns the text in a form that is safe to display: bounded, on one line, and without anything that a terminal
    /// would obey.
    ///
    /// Control characters (C0, DEL, C1), line and paragraph separators and bidirectional overrides become `?`, so that
    /// text from a server, a plugin or a keyring item can't move the cursor, forge a line of lanyard's or hide a host
    /// (CVE-2024-50349).
    ///
    /// At most `limit` characters are kept; a longer text ends in `…`.
    public func displayable(limit: Int = 500) -> String {
        var shown = ""
        for (count, scalar) in unicodeScalars.enumerated() {
            if count == limit { return shown + "…" }
            shown.unicodeScalars.append(scalar.isSafeToShow ? scalar : "?")
        }
        return shown
    }
}

extension Unicode.Scalar {
    fileprivate var isSafeToShow: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .format: false
        default: true
        }
    }
}
