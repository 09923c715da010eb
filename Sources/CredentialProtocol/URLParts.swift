import Addresses
import Secrets

/// A URL cut up as git cuts one (credential.c): scheme, user, password, host and path, percent-decoded.
struct URLParts {
    private let attributesOfURL: Attributes

    /// Reads a URL.
    ///
    /// - Throws: `RequestError` if programs could disagree about its host, or a part decodes to a control character
    ///   (CVE-2020-5260).
    init(_ text: String) throws(RequestError) {
        guard let url = StrictURL(text) else { throw .invalid("url") }
        var attributes = Attributes()
        do {
            try attributes.append("protocol", url.scheme)
            try attributes.append("host", url.host.text)
        } catch { throw .invalid("url") }
        try Self.append("username", url.user, to: &attributes)
        try Self.append("password", url.password, to: &attributes)
        let path = Substring(url.tail.utf8.drop { $0 == UInt8(ascii: "/") })
        try Self.append("path", path.isEmpty ? nil : path, to: &attributes)
        attributesOfURL = attributes
    }

    /// These parts, then further lines.
    func attributes(followedBy lines: ArraySlice<Attributes.Line>) throws(RequestError) -> Attributes {
        var all = attributesOfURL
        for line in lines {
            do { try all.append(line.key, line.value) } catch { throw .invalid(line.key) }
        }
        return all
    }

    private static func append(
        _ key: String, _ encoded: Substring?, to attributes: inout Attributes
    ) throws(RequestError) {
        guard let encoded else { return }
        guard let text = encoded.percentDecoded, !text.hasControlCharacter else { throw .invalid("url") }
        do { try attributes.append(key, text) } catch { throw .invalid("url") }
    }
}
