extension String {
    /// Returns this text if it is an identifier that is safe to pass on: visible ASCII, not empty, not too long.
    package func plain(limit: Int) -> String? {
        let isPlain = !isEmpty && utf8.count <= limit && utf8.allSatisfy { (0x21...0x7E).contains($0) }
        return isPlain ? self : nil
    }
}
