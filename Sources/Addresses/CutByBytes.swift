// Text cut and compared by bytes, for all that decides something. Swift's own functions go by `Character`, a grapheme cluster, to
// which a slash with a combining mark is no slash, and compare by canonical equivalence, to which U+037E is a semicolon.

extension StringProtocol {
    /// What stands before the first of a delimiter, which is ASCII, and what behind it; nil if it doesn't occur.
    public func cut(at delimiter: Unicode.Scalar) -> (Substring, Substring)? {
        let text = Substring(self)
        return text.utf8.firstIndex(of: UInt8(ascii: delimiter)).map(text.cut)
    }

    /// What stands before the last of a delimiter, which is ASCII, and what behind it; nil if it doesn't occur.
    public func cut(atLast delimiter: Unicode.Scalar) -> (Substring, Substring)? {
        let text = Substring(self)
        return text.utf8.lastIndex(of: UInt8(ascii: delimiter)).map(text.cut)
    }

    /// The pieces between the occurrences of a delimiter, which is ASCII.
    public func pieces(between delimiter: Unicode.Scalar, omittingEmpty: Bool = true) -> [Substring] {
        let bytes = Substring(self).utf8
        return bytes.split(separator: UInt8(ascii: delimiter), omittingEmptySubsequences: omittingEmpty)
            .map(Substring.init)
    }

    /// Whether the bytes of another text occur in this one.
    public func hasBytes(_ other: some StringProtocol) -> Bool {
        let other = Array(other.utf8)
        guard let first = other.first else { return true }
        var rest = utf8[...]
        while let start = rest.firstIndex(of: first) {
            rest = rest[start...]
            if rest.starts(with: other) { return true }
            rest = rest.dropFirst()
        }
        return false
    }

    /// Whether this and another text are the same, byte by byte.
    public func isSame(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension Substring {
    fileprivate func cut(around index: Index) -> (Substring, Substring) {
        (self[..<index], self[utf8.index(after: index)...])
    }
}
