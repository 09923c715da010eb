import Addresses

/// An https URL split into host, port and path segments; the strict part of parsing an authority or issuer.
package struct HTTPSAddress: Sendable, Equatable {
    /// The host in lower case.
    package let host: String
    /// The port; nil for 443.
    package let port: Int?
    /// The path segments, non-empty and without escapes.
    package let segments: [String]

    /// The host, with `:port` if the port isn't 443.
    package var environment: String { port.map { "\(host):\($0)" } ?? host }

    /// Parses a URL, dropping its query and fragment.
    ///
    /// It accepts only `https`, no user name, and only letters, digits, `.`, `_` and `-` in the host and path, so that
    /// no two parsers can disagree about the destination. An IPv6 address may not have a zone.
    package init(_ text: String) throws(AddressError) {
        guard text.utf8.allSatisfy(\.isVisibleASCII), let url = StrictURL(text) else {
            throw .malformed
        }
        guard url.scheme == "https" else { throw .notHTTPS }
        let segments = url.path.pieces(between: "/").map(String.init)
        guard url.user == nil, url.host.text == url.host.urlText, segments.allSatisfy(Self.isName) else {
            throw .malformed
        }
        host = RequestHost(name: url.host.name, port: nil).text
        port = url.host.withoutOwnPort(of: url.scheme).port
        self.segments = segments
    }

    /// Whether the text is a plain host or path segment.
    package static func isName(_ text: String) -> Bool {
        guard !text.isEmpty, text.utf8.count <= 255, text != ".", text != ".." else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
    }
}

/// Why a URL can't be an authority's.
package enum AddressError: Error, Sendable, Equatable {
    case notHTTPS
    /// It has no host, has a user name, or its host or path isn't plain ASCII.
    case malformed
}
