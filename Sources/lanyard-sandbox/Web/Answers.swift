import HTTPTypes
import Hummingbird
import JSON
import NIOCore

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
        self.init(
            status: status, headers: [.contentType: type, .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(string: body)))
    }

    /// Returns this response with another challenge to authenticate.
    func challenging(_ challenge: String) -> Response {
        var response = self
        response.headers.append(HTTPField(name: .wwwAuthenticate, value: challenge))
        return response
    }
}
