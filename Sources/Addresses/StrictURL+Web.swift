extension StrictURL {
    /// Parses a URL that is fetched, opened or trusted: http or https, in visible ASCII, without a user name, a password
    /// or an address's zone.
    package init?(web text: String) {
        self.init(text)
        guard text.utf8.allSatisfy(\.isVisibleASCII), ["https", "http"].contains(scheme), user == nil,
            host.text == host.urlText
        else { return nil }
    }

    /// Parses such a URL if it is https.
    package init?(https text: String) {
        self.init(web: text)
        guard scheme == "https" else { return nil }
    }

    /// Whether it leads to this computer over http, which needs no protection.
    package var isLoopbackHTTP: Bool { scheme == "http" && host.isThisMachine }

    /// The host, with `:port` if that isn't the scheme's own.
    package var hostText: String { host.withoutOwnPort(of: scheme).text }

    /// Everything before the path, as written.
    package var origin: Substring { tail.base[..<tail.startIndex] }

    /// The segments of the path that aren't empty, as written.
    package var segments: [Substring] { path.pieces(between: "/") }

    /// Whether a fragment follows the path or the query.
    package var hasFragment: Bool { tail.utf8.contains(UInt8(ascii: "#")) }
}

extension String {
    /// The URL without the slashes at its end, which programs write or leave out.
    package var withoutTrailingSlashes: String {
        var url = self[...]
        while url.utf8.last == UInt8(ascii: "/") { url = Substring(url.utf8.dropLast()) }
        return String(url)
    }

    /// Returns the URL with another scheme; the text itself unless it begins with a scheme and `://`.
    package func with(scheme: String) -> String {
        StrictURL.scheme(of: self).map { scheme + Substring(utf8.dropFirst($0.utf8.count)) } ?? self
    }
}

extension StringProtocol {
    /// Whether it can be a segment of a path that no program rewrites: unreserved characters (RFC 3986, 2.3), but
    /// neither `.` nor `..`.
    package var isPathName: Bool {
        (1...255).contains(utf8.count) && utf8.allSatisfy(\.isUnreserved) && !isSame(as: ".") && !isSame(as: "..")
    }
}
