extension Bool {
    /// Reads a boolean in the words that git takes for one; nil for any other.
    public init?(gitWord word: String) {
        switch word.lowercased() {
        case "0", "false", "no", "off": self = false
        case "1", "true", "yes", "on": self = true
        default: return nil
        }
    }
}
