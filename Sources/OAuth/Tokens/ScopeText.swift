/// The value of the `scope` parameter (RFC 6749, 3.3).
package enum ScopeText {
    /// Splits it at spaces and any characters that scopes can't contain; removes duplicates.
    package static func split(_ text: String) -> [String] {
        var seen: Set<String> = []
        return text.unicodeScalars.split { !(0x21...0x7E).contains($0.value) || $0 == "\"" || $0 == "\\" }
            .map(String.init).filter { $0.utf8.count <= 1_024 && seen.insert($0).inserted }
    }
}
