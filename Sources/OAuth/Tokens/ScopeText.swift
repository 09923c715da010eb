/// The value of `scope` (RFC 6749, 3.3).
package enum ScopeText {
    /// Cuts it at runs of spaces, and of anything else that no scope may hold; each scope comes once.
    package static func split(_ text: String) -> [String] {
        var seen: Set<String> = []
        return text.unicodeScalars.split { !(0x21...0x7E).contains($0.value) || $0 == "\"" || $0 == "\\" }
            .map(String.init).filter { $0.utf8.count <= 1_024 && seen.insert($0).inserted }
    }
}
