// Splits and compares text by bytes, for everything that decides something. Swift's own functions work on `Character`,
// a grapheme cluster, where a slash with a combining mark isn't a slash, and compare by canonical equivalence, where
// U+037E is a semicolon.

extension StringProtocol {
    /// Returns the text before and after the first occurrence of an ASCII delimiter; nil if it doesn't occur.
    public func cut(at delimiter: Unicode.Scalar) -> (Substring, Substring)? {
        let text = Substring(self)
        return text.utf8.firstIndex(of: UInt8(ascii: delimiter)).map(text.cut)
    }

    /// Returns the text before and after the last occurrence of an ASCII delimiter; nil if it doesn't occur.
    public func cut(atLast delimiter: Unicode.Scalar) -> (Substring, Substring)? {
        let text = Substring(self)
        return text.utf8.lastIndex(of: UInt8(ascii: delimiter)).map(text.cut)
    }

    /// Returns the text before and after the first occurrence of another text; nil if it doesn't occur.
    public func cut(atText other: some StringProtocol) -> (Substring, Substring)? {
        let text = Substring(self)
        var start = text.startIndex
        while !text.utf8[start...].starts(with: other.utf8) {
            guard start < text.endIndex else { return nil }
            text.utf8.formIndex(after: &start)
        }
        return (text[..<start], text[text.utf8.index(start, offsetBy: other.utf8.count)...])
    }

    /// Returns the pieces between the occurrences of an ASCII delimiter.
    public func pieces(
        between delimiter: Unicode.Scalar, maxSplits: Int = .max, omittingEmpty: Bool = true
    ) -> [Substring] {
        Substring(self).utf8.split(
            separator: UInt8(ascii: delimiter), maxSplits: maxSplits, omittingEmptySubsequences: omittingEmpty
        ).map(Substring.init)
    }

    /// Returns the text with each occurrence of an ASCII text replaced.
    public func replacing(bytes old: some StringProtocol, with new: String) -> String {
        var result = ""
        var rest = Substring(self)
        while let (before, after) = rest.cut(atText: old) {
            result += before + new
            rest = after
        }
        return result + rest
    }

    /// Returns the text without these ASCII characters at its beginning and end.
    public func trimmed(of bytes: StaticString = " \t") -> Substring {
        let dropped = Set("\(bytes)".utf8)
        let text = Substring(self)
        guard let first = text.utf8.firstIndex(where: { !dropped.contains($0) }),
            let last = text.utf8.lastIndex(where: { !dropped.contains($0) })
        else { return "" }
        return Substring(text.utf8[first...last])
    }

    /// The text without a dot at its end, as of a sentence, or of a name in the domain name system.
    package var withoutFinalDot: Substring {
        let text = Substring(self)
        return text.utf8.last == UInt8(ascii: ".") ? Substring(text.utf8.dropLast()) : text
    }

    /// Whether the bytes of another text occur in this one.
    public func hasBytes(_ other: some StringProtocol) -> Bool { cut(atText: other) != nil }

    /// Whether both texts are the same, byte by byte.
    @inlinable
    public func isSame(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension Substring {
    fileprivate func cut(around index: Index) -> (Substring, Substring) {
        (self[..<index], self[utf8.index(after: index)...])
    }
}

extension Sequence where Element: Equatable {
    /// The elements in their order, each once.
    package var uniqued: [Element] { reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }
}
