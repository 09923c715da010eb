import Addresses
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Synchronization

/// One request as the handlers see it: decoded once, with room to note who it was for.
final class Visit: Sendable {
    let request: Request
    /// The path's segments, percent-decoded; empty ones are dropped.
    let segments: [String]
    let query: Form
    let form: Form
    let body: String
    /// What an error of this request is traced by: the client's own id if it sent one that is a GUID.
    let correlationID: String
    let arrived = Date.now
    private let noted = Mutex<String?>(nil)

    init(_ request: Request, body: String = "") {
        self.request = request
        self.body = body
        let isJSON = Self.header("Content-Type", of: request)?.lowercased().contains("json") == true
        form = isJSON ? Form() : Form(decoding: body)
        segments = request.uri.path.split(separator: "/").map(Form.decode)
        query = Form(decoding: request.uri.query ?? "")
        let sent = Self.header("client-request-id", of: request) ?? query["client-request-id"]
        correlationID = sent.flatMap(UUID.init(uuidString:))?.uuidString.lowercased() ?? newIdentifier()
    }

    var path: String { request.uri.path }
    /// The path as the segments tell it: decoded, without doubled slashes.
    var plainPath: String { "/" + segments.joined(separator: "/") }
    /// Whether a segment means another folder than it says, written plainly or encoded.
    var climbs: Bool { segments.contains { $0 == "." || $0 == ".." || $0.contains("/") || $0.contains("\0") } }
    var method: HTTPRequest.Method { request.method }

    /// Who this request turned out to be for; goes into the log.
    var user: String? {
        get { noted.withLock { $0 } }
        set { noted.withLock { $0 = newValue } }
    }

    func header(_ name: String) -> String? { Self.header(name, of: request) }

    private static func header(_ name: String, of request: Request) -> String? {
        HTTPField.Name(name).flatMap { request.headers[$0] }
    }

    func cookie(_ name: String) -> String? {
        let pairs = request.headers[values: .cookie].flatMap { $0.split(separator: ";") }
        for pair in pairs {
            let parts = pair.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " } }
            if parts.count == 2, parts[0] == name { return parts[1] }
        }
        return nil
    }
}

/// A fresh GUID in the lower-case form that Entra writes.
func newIdentifier() -> String {
    UUID().uuidString.lowercased()
}

/// An unguessable text fit for a URL that stands for so many random bytes.
func newSecret(bytes: Int = 32) -> String {
    var generator = SystemRandomNumberGenerator()
    return Base64URL.encode((0..<bytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
}
