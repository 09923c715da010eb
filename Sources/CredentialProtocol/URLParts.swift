/// A URL cut up as git cuts one (urlmatch, credential.c): scheme, user, password, host and path, percent-decoded.
struct URLParts {
    private let attributesOfURL: Attributes

    /// Reads a URL.
    ///
    /// - Throws: `RequestError` where it has no scheme or host, or a part decodes to a control character
    ///   (CVE-2020-5260).
    init(_ url: String) throws(RequestError) {
        guard let separator = url.firstRange(of: "://"), separator.lowerBound > url.startIndex else {
            throw .invalid("url")
        }
        let rest = url[separator.upperBound...]
        let authorityEnd = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        let authority = rest[..<authorityEnd]
        let at = authority.lastIndex(of: "@")
        var parts: [(String, Substring)] = [("protocol", url[..<separator.lowerBound])]
        parts.append(("host", at.map { authority[authority.index(after: $0)...] } ?? authority))
        if let at {
            let user = authority[..<at]
            let colon = user.firstIndex(of: ":") ?? user.endIndex
            parts.append(("username", user[..<colon]))
            if colon < user.endIndex { parts.append(("password", user[user.index(after: colon)...])) }
        }
        let path = rest[authorityEnd...].drop { $0 == "/" }
        if !path.isEmpty { parts.append(("path", path)) }
        attributesOfURL = try Self.decoded(parts)
    }

    /// These parts, then further lines.
    func attributes(followedBy lines: ArraySlice<Attributes.Line>) throws(RequestError) -> Attributes {
        var all = attributesOfURL
        for line in lines {
            do { try all.append(line.key, line.value) } catch { throw .invalid(line.key) }
        }
        return all
    }

    private static func decoded(_ parts: [(String, Substring)]) throws(RequestError) -> Attributes {
        var attributes = Attributes()
        for (key, encoded) in parts {
            guard let text = encoded.percentDecoded, !text.hasControlCharacter else { throw .invalid("url") }
            do { try attributes.append(key, text) } catch { throw .invalid("url") }
        }
        return attributes
    }
}

extension Substring {
    /// RFC 3986, 2.1; nil where an escape is broken or the bytes aren't UTF-8.
    fileprivate var percentDecoded: String? {
        var bytes: [UInt8] = []
        var rest = utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let digits = String(rest.prefix(2)), digits.utf8.count == 2, let value = UInt8(digits, radix: 16)
            else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
