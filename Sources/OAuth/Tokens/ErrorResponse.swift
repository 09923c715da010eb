import Addresses
package import HTTP
package import JSON
import Secrets

/// An authority's error response (RFC 6749, 4.1.2.1 and 5.2; RFC 8628, 3.5).
package struct ErrorResponse: Sendable, Equatable {
    /// The error code, in lower case.
    package let error: String
    /// The authority's description of the error.
    package let description: String
    /// The status that stands for the error; nil if the authority named it.
    package private(set) var unnamedStatus: Int?
    private let members: [String: JSONValue]

    /// Creates a response without further members.
    package init(error: String, description: String = "") {
        self.init(error, description, [:])
    }

    private init(_ error: String, _ description: String, _ members: [String: JSONValue]) {
        self.error = error.lowercased()
        self.description = description
        self.members = members
    }

    /// Parses an endpoint's JSON; nil if it contains no `error`.
    ///
    /// Errors may come with status 200, and some servers send an object or a number.
    package init?(_ answer: HTTPAnswer) {
        guard let members = answer.json?.members, let error = Self.code(members["error"]), !error.isEmpty else {
            return nil
        }
        let words = [members["error_description"], members["error"]?["message"], members["message"]]
        self.init(error, words.lazy.compactMap { $0?.string }.first ?? "", members)
    }

    /// The code in the value of `error`: a text, a number or an object with one, as Google's and Microsoft's APIs have it;
    /// 0 stands for no error.
    private static func code(_ value: JSONValue?) -> String? {
        switch value {
        case .string(let text)?: text
        case .integer(let number)?: number == 0 ? "" : String(number)
        case .object(let members)?:
            members["status"]?.string ?? members["type"]?.string ?? code(members["code"])
                ?? members["message"]?.string.map { _ in "error" }
        default: nil
        }
    }

    /// Creates the refusal of an endpoint that names no `error`; nil if its status isn't that of a refusal.
    ///
    /// Only a refused client has status 401 (RFC 6749, 5.2), which is 403 at some servers. But 403 is also a proxy's.
    init?(unnamed answer: HTTPAnswer) {
        let members = answer.json?.members
        let words = members?["error_description"]?.string ?? members?["message"]?.string
        switch answer.status {
        case 400 where members != nil: self.init("http_400", words ?? "", members ?? [:])
        case 401, 403:
            if answer.status == 403, members == nil, answer.mayBeProxys { return nil }
            self.init("invalid_client", words ?? "no reason given (HTTP \(answer.status))", members ?? [:])
        default: return nil
        }
        unnamedStatus = answer.status
    }

    /// Parses an authorization response; nil if it contains no `error`.
    package init?(response fields: [String: String]) {
        guard let error = fields["error"], !error.isEmpty else { return nil }
        self.init(error, fields["error_description"] ?? "", fields.mapValues(JSONValue.string))
    }

    /// Returns one of the response's members; nil if it has none of this name.
    package subscript(name: String) -> JSONValue? { members[name] }

    /// Returns the first line of the description, or the error code if there is none; `marks` end the text before the
    /// end of the line.
    package func summary(endingAt marks: [String] = []) -> String {
        var text = Substring(description.utf8.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") })
        for end in marks { text = text.cut(atText: end)?.0 ?? text }
        let words = String(text.trimmed(of: " ."))
        return (words.isEmpty ? error : words).displayable(limit: 300)
    }
}

extension HTTPAnswer {
    /// Whether this is a page, as proxies refuse with, or came through a proxy that may have written it.
    fileprivate var mayBeProxys: Bool {
        let isPage = first("content-type")?.lowercased().hasBytes("html") == true || body.first == UInt8(ascii: "<")
        return isPage || !body.isEmpty && first("via") != nil
    }
}

extension String {
    /// Returns this text if it is an identifier that is safe to pass on: visible ASCII, not empty, not too long.
    package func plain(limit: Int) -> String? {
        let isPlain = !isEmpty && utf8.count <= limit && utf8.allSatisfy(\.isVisibleASCII)
        return isPlain ? self : nil
    }
}
