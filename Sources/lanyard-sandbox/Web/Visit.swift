import Addresses
import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON
import NIOCore
import Synchronization

/// A request as the handlers see it: parsed once, with room to record its user.
final class Visit: Sendable {
    let request: Request
    /// The path's segments, percent-decoded; empty ones are dropped.
    let segments: [String]
    let query: Form
    let form: Form
    let bytes: ByteBuffer
    /// The body's text.
    let body: String
    /// The ID for tracing errors: the client's own if it sent a GUID.
    let correlationID: String
    let arrived = Date.now
    private let noted = Mutex<String?>(nil)

    init(_ request: Request, bytes: ByteBuffer = ByteBuffer()) {
        self.request = request
        self.bytes = bytes
        body = String(buffer: bytes)
        let isJSON = Self.header("Content-Type", of: request)?.lowercased().contains("json") == true
        form = isJSON ? Form() : Form(decoding: body)
        segments = request.uri.path.split(separator: "/").map(Form.decode)
        query = Form(decoding: request.uri.query ?? "")
        let sent = Self.header("client-request-id", of: request) ?? query["client-request-id"]
        correlationID = sent.flatMap(UUID.init(uuidString:))?.uuidString.lowercased() ?? newIdentifier()
    }

    var path: String { request.uri.path }
    /// The host that the client meant to ask, as it named it.
    var host: String { request.head.authority ?? "" }
    /// The path made of the segments: decoded, without doubled slashes.
    var plainPath: String { "/" + segments.joined(separator: "/") }
    /// The path's first two segments, which name a repository.
    var repository: String { "/" + segments.prefix(2).joined(separator: "/") }
    /// Whether a segment refers to another folder, plainly or encoded.
    var climbs: Bool { segments.contains { $0 == "." || $0 == ".." || $0.contains("/") || $0.contains("\0") } }
    var method: HTTPRequest.Method { request.method }
    /// The fields of the form, or else of the query.
    var parameters: Form { method == .post ? form : query }

    /// The members of a JSON document, for the log.
    var members: Form {
        let members = JSONValue(bytes: body.utf8)?.members ?? [:]
        return Form(members.map { ($0.key, $0.value.text ?? $0.value.encodedText) })
    }

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

/// The fields of a query or form body, in order.
struct Form: Sendable {
    var fields: [(name: String, value: String)]

    init(_ fields: [(name: String, value: String)] = []) {
        self.fields = fields
    }

    /// Reads `application/x-www-form-urlencoded` text; a name or value with a broken escape stays as it is.
    init(decoding text: some StringProtocol) {
        fields = text.split(separator: "&").prefix(500).map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (Self.decode(parts[0]), parts.count > 1 ? Self.decode(parts[1]) : "")
        }
    }

    /// Returns the first value with this name; an empty one counts as absent, as in Entra.
    subscript(name: String) -> String? {
        fields.first { $0.name == name && !$0.value.isEmpty }?.value
    }

    /// The fields as `application/x-www-form-urlencoded` text, with spaces as `%20`.
    var encoded: String {
        fields.map { "\($0.name.percentEncoded)=\($0.value.percentEncoded)" }.joined(separator: "&")
    }

    /// The text of a field, or as it stands if an escape is broken.
    static func decode(_ text: some StringProtocol) -> String {
        let spaced = text.replacing(bytes: "+", with: " ")
        return spaced.percentDecoded ?? spaced
    }
}

extension Response {
    /// Returns a page that is never cached or framed, and runs no script but the one with `scriptNonce`.
    static func page(_ page: HTML, status: HTTPResponse.Status = .ok, scriptNonce: String? = nil) -> Response {
        let script = scriptNonce.map { "; script-src 'nonce-\($0)'" } ?? ""
        var response = Response(uncached: page.markup, type: "text/html; charset=utf-8", status: status)
        response.headers[.contentSecurityPolicy] =
            "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'\(script)"
        return response
    }

    static func json(_ value: JSONValue, status: HTTPResponse.Status = .ok) -> Response {
        Response(uncached: value.encodedText, type: "application/json; charset=utf-8", status: status)
    }

    static func redirect(to location: String) -> Response {
        Response(status: .found, headers: [.location: location, .cacheControl: "no-store"])
    }

    static func text(_ text: String, status: HTTPResponse.Status) -> Response {
        Response(uncached: text + "\n", type: "text/plain; charset=utf-8", status: status)
    }

    /// Makes a response that is never cached.
    init(uncached body: String, type: String, status: HTTPResponse.Status) {
        self.init(uncached: ByteBuffer(string: body), type: type, status: status)
    }

    init(uncached bytes: ByteBuffer, type: String, status: HTTPResponse.Status) {
        self.init(
            status: status, headers: [.contentType: type, .cacheControl: "no-store"],
            body: .init(byteBuffer: bytes))
    }

    /// Returns this response with another challenge to authenticate.
    func challenging(_ challenge: String) -> Response {
        var response = self
        response.headers.append(HTTPField(name: .wwwAuthenticate, value: challenge))
        return response
    }

    /// The same as a registry of Swift packages answers.
    var ofRegistry: Response {
        var response = self
        if let version = HTTPField.Name("Content-Version") {
            response.headers.append(HTTPField(name: version, value: "1"))
        }
        return response
    }
}
