/// A text that leads to a page where terminals show links (OSC 8), and is just the text where they don't.
struct Hyperlink {
    /// The text with the escape codes around it.
    let text: String

    /// Longer ones are shown by few terminals.
    private static let longest = 2048

    /// A link; nil if the address can't be written in one.
    init?(_ label: String, to url: String) {
        guard url.utf8.count <= Self.longest, url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        text = "\u{1B}]8;;\(url)\u{1B}\\\(label)\u{1B}]8;;\u{1B}\\"
    }
}
