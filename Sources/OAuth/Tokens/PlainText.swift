import Addresses

extension String {
    /// Returns this text if it is an identifier that is safe to pass on: visible ASCII, not empty, not too long.
    package func plain(limit: Int) -> String? {
        let isPlain = !isEmpty && utf8.count <= limit && utf8.allSatisfy(\.isVisibleASCII)
        return isPlain ? self : nil
    }
}
