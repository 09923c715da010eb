import Addresses
import JSON
package import OAuth
package import Secrets

/// What a platform says if it gives no token, in whichever form it says it.
package struct Fault: Sendable, Equatable {
    /// Its code; nil if it has none.
    package var error: String?
    /// A finer code.
    package var suberror: String?
    /// Its words, on one line; nil if there are none.
    package var message: String?
    /// What names the request in its logs.
    package var correlationID: String?

    /// A fault that nothing is said of.
    package init() {}

    /// Reads an answer; what isn't recognised is left out, and so is what was sent and is secret.
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
        // A code that is none holds what there is to say.
        message = words("error_description", "message") ?? (error == nil ? code : nil)
        correlationID = words("correlationid", "correlation_id")?.plain(limit: 64)
    }

    private static func lowerCased(_ members: [String: JSONValue]) -> [String: JSONValue] {
        Dictionary(members.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
    }

    /// The first line of a text, without what is secret of it.
    ///
    /// A secret of a few characters hides nothing: it would tear holes in other words.
    private static func line(_ text: String, hiding secrets: [Secret]) -> String {
        var text = text
        for secret in secrets where secret.reveal().utf8.count >= 6 {
            text = text.replacing(bytes: secret.reveal(), with: "<redacted>")
        }
        let line = Substring(text.utf8.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") })
        return String(line.trimmed()).displayable(limit: 300)
    }
}
