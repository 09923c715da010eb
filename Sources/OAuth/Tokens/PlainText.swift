extension String {
    /// This text if it is an identifier that can be handed on as it is: visible ASCII, not empty, not too long.
    package func plain(limit: Int) -> String? {
        let isPlain = !isEmpty && utf8.count <= limit && utf8.allSatisfy { (0x21...0x7E).contains($0) }
        return isPlain ? self : nil
    }
}
