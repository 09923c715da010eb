import Addresses
import FoundationEssentials
package import HTTP
import JSON
import Secrets

/// An authority's error response (RFC 6749, 4.1.2.1 and 5.2; RFC 8628, 3.5).
package struct ErrorResponse: Sendable, Equatable {
    /// The error code, in lower case.
    package let error: String
    /// The authority's description of the error.
    package let description: String
    /// All members, as JSON.
    private let body: Data

    /// Creates a response without further members.
    package init(error: String, description: String = "") {
        self.init(error, description, Data("{}".utf8))
    }

    private init(_ error: String, _ description: String, _ body: Data) {
        self.error = error.lowercased()
        self.description = description
        self.body = body
    }

    /// Parses an endpoint's JSON; nil if it contains no `error`.
    ///
    /// Errors may come with status 200, and some servers send an object or a number.
    package init?(_ answer: HTTPAnswer) {
        guard let members = answer.json(Members.self), let error = members.error?.name, !error.isEmpty else {
            return nil
        }
        self.init(error, members.error_description ?? members.error?.message ?? members.message ?? "", answer.jsonBody)
    }

    /// Creates the refusal of an endpoint that names no `error`; nil if its status isn't that of a refusal.
    ///
    /// Only a refused client has status 401 (RFC 6749, 5.2), which is 403 at some servers. But 403 is also a proxy's.
    init?(unnamed answer: HTTPAnswer) {
        let members = answer.json(Members.self)
        let words = members?.error_description ?? members?.message
        switch answer.status {
        case 400 where members != nil: self.init("http_400", words ?? "", answer.jsonBody)
        case 401, 403:
            if answer.status == 403, members == nil, answer.mayBeProxys { return nil }
            let body = members == nil ? Data("{}".utf8) : answer.jsonBody
            self.init("invalid_client", words ?? "no reason given (HTTP \(answer.status))", body)
        default: return nil
        }
    }

    /// Parses an authorization response; nil if it contains no `error`.
    package init?(response fields: [String: String]) {
        guard let error = fields["error"], !error.isEmpty else { return nil }
        let body = JSONValue.object(fields.mapValues(JSONValue.string)).encoded()
        self.init(error, fields["error_description"] ?? "", Data(body))
    }

    /// Decodes the response's members as a type with additional members; nil if their types don't match.
    package func members<Members: Decodable>(_ type: Members.Type) -> Members? {
        try? JSONDecoder().decode(type, from: body)
    }

    /// Returns the first line of the description, or the error code if there is none; `marks` end the text before the
    /// end of the line.
    package func summary(endingAt marks: [String] = []) -> String {
        var text = Substring(description.utf8.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") })
        for end in marks { text = text.cut(atText: end)?.0 ?? text }
        let words = String(text.trimmed(of: " ."))
        return (words.isEmpty ? error : words).displayable(limit: 300)
    }

    private struct Members: Decodable {
        @Lenient var error: Name?
        @Lenient var error_description: String?
        @Lenient var message: String?
    }

    /// The value of `error`: a code, or an object with one, as Google's and Microsoft's APIs have it.
    private struct Name: Decodable, Equatable {
        var name: String?
        var message: String?

        init(from decoder: any Decoder) throws {
            if let word = try? Word(from: decoder) {
                name = word.text
            } else {
                let object = try Object(from: decoder)
                message = object.message
                name = object.status ?? object.type ?? object.code?.text ?? message.map { _ in "error" }
            }
        }
    }

    private struct Object: Decodable {
        @Lenient var status: String?
        @Lenient var type: String?
        @Lenient var code: Word?
        @Lenient var message: String?
    }

    /// A text or a number; 0 stands for no error.
    private struct Word: Decodable, Equatable {
        var text: String

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int.self) {
                text = number == 0 ? "" : String(number)
            } else {
                text = try container.decode(String.self)
            }
        }
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
