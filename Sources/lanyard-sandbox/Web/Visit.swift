import Addresses
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Synchronization

/// A request as the handlers see it: parsed once, with room to record its user.
final class Visit: Sendable {
    let request: Request
    /// The path's segments, percent-decoded; empty ones are dropped.
    let segments: [String]
    let query: Form
    let form: Form
    let body: String
    /// The ID for tracing errors: the client's own if it sent a GUID.
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
    /// The path made of the segments: decoded, without doubled slashes.
    var plainPath: String { "/" + segments.joined(separator: "/") }
    /// The path's first two segments, which name a repository.
    var repository: String { "/" + segments.prefix(2).joined(separator: "/") }
    /// Whether a segment refers to another folder, plainly or encoded.
    var climbs: Bool { segments.contains { $0 == "." || $0 == ".." || $0.contains("/") || $0.contains("\0") } }
    var method: HTTPRequest.Method { request.method }
    /// The fields of the form, or else of the query.
    var parameters: Form { method == .post ? form : query }

    /// The user that the request turned out to be from, for the log.
    var user: String? {
        get { noted.withLock { $0 } }
        set { noted.withLock { $0 = newValue } }
    }

    func header(_ name: String) -> String? { Self.header(name, of: request) }

    private static func header(_ name: String, of request: Request) -> String? {
        HTTPField.Name(name).flatMap { request.headers[$0] }
    }

    func cookie(_ name: String) -> String? { request.cookies[name]?.value }
}

/// Returns a new GUID in lower case, as in Entra.
func newIdentifier() -> String {
    UUID().uuidString.lowercased()
}

/// Returns an unguessable, URL-safe text that encodes this many random bytes.
func newSecret(bytes: Int = 32) -> String {
    var generator = SystemRandomNumberGenerator()
    return Base64URL.encode((0..<bytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
}
