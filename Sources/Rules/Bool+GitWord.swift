extension Bool {
    /// Parses a boolean in any of git's spellings; nil for any other word.
    public init?(gitWord word: String) {
        switch word.lowercased() {
        case "0", "false", "no", "off": self = false
        case "1", "true", "yes", "on": self = true
        default: return nil
        }
    }
}
