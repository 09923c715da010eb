import Addresses
import SettingsFile

/// The similarity of a host to one of a pattern's.
struct HostLikeness {
    /// The pattern's host, which the other could be mistaken for.
    let host: String
    let distance: Int

    /// Compares the names; nil if they differ too much to be mistaken for each other.
    init?(of name: String, to pattern: String) {
        let fixed = pattern.pieces(between: ".").filter { !$0.isSame(as: "*") }
        let labels = name.pieces(between: ".")
        let isWhole = fixed.count == pattern.pieces(between: ".").count
        guard isWhole || labels.count > fixed.count else { return nil }
        let first = isWhole ? [] : labels.dropLast(fixed.count)
        let own = fixed.joined(separator: ".")
        distance = own.editDistance(to: labels.dropFirst(first.count).joined(separator: "."))
        // A host further below a pattern's domain must match exactly.
        guard distance <= own.slips, isWhole || distance > 0 else { return nil }
        host = (first + fixed).joined(separator: ".")
    }
}

extension StringProtocol {
    /// How many letters may differ while the word still reads the same.
    fileprivate var slips: Int { Swift.max(1, utf8.count / 8) }

    /// Whether the word could be mistaken for another; a short one must match exactly.
    func mayBeTaken(for word: Substring) -> Bool {
        String(self).editDistance(to: String(word)) <= (utf8.count < 8 ? 0 : slips)
    }
}
