import Addresses
package import HTTP
import JSON
import OAuth
package import Secrets

/// A platform's error response, in any of the platforms' formats.
package struct Fault: Sendable, Equatable {
    /// The error code; nil if there is none.
    package var error: String?
    /// A more specific code.
    package var suberror: String?
    /// The message, on one line; nil if there is none.
    package var message: String?
    /// The request's ID in the platform's logs.
    package var correlationID: String?

    /// Creates an empty fault.
    package init() {}

    /// Parses an answer; unknown members are ignored, and secrets of the request are removed.
    ///
    ///     {"error": CODE, "error_description": WORDS}                           IMDS, Arc
    ///     {"statusCode": 500, "message": WORDS, "correlationId": ID}            App Service
    ///     {"error": {"code": CODE, "message": WORDS, "correlationId": ID}}      Service Fabric, Cloud Shell
    package init(_ answer: HTTPAnswer, hiding secrets: [Secret] = []) {
        guard let members = PlatformToken.members(of: answer) else { return }
        let outer = Self.lowerCased(members)
        let inner = outer["error"]?.members.map(Self.lowerCased) ?? [:]
        func words(_ names: String...) -> String? {
            let found = names.lazy.compactMap { inner[$0]?.string ?? outer[$0]?.string }.first { !$0.isEmpty }
            return found.map { Self.line($0, hiding: secrets) }
        }
        let code = (inner["code"] ?? outer["error"] ?? outer["code"])?.string.map { Self.line($0, hiding: secrets) }
        error = code?.plain(limit: 256)
        // A string in place of a code is the message.
        message = words("error_description", "message") ?? (error == nil ? code : nil)
        correlationID = words("correlationid", "correlation_id")?.plain(limit: 64)
    }

    private static func lowerCased(_ members: [String: JSONValue]) -> [String: JSONValue] {
        Dictionary(members.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
    }

    /// Returns the first line of a text, without secrets.
    ///
    /// Secrets of a few characters aren't removed: that would damage unrelated words.
    private static func line(_ text: String, hiding secrets: [Secret]) -> String {
        var text = text
        for secret in secrets where secret.reveal().utf8.count >= 6 {
            text = text.replacing(bytes: secret.reveal(), with: "<redacted>")
        }
        let line = Substring(text.utf8.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") })
        return String(line.trimmed()).displayable(limit: 300)
    }
}
