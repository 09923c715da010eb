import Addresses

/// A text that links to a page on terminals that support it (OSC 8), and is plain text on others.
struct Hyperlink {
    /// The text with the escape codes around it.
    let text: String

    /// The longest URL that is linked, in bytes: few terminals support longer ones.
    private static let longest = 2048

    /// Creates a link; nil if the URL can't be written in one.
    init?(_ label: String, to url: String) {
        guard url.utf8.count <= Self.longest, url.utf8.allSatisfy(\.isVisibleASCII) else { return nil }
        text = "\u{1B}]8;;\(url)\u{1B}\\\(label)\u{1B}]8;;\u{1B}\\"
    }
}
