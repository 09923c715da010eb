import HTTPTypes
import Hummingbird
import JSON
import NIOCore

extension Response {
    /// Returns a page that is never cached or framed, and runs no script but the one with `scriptNonce`.
    static func page(_ page: HTML, status: HTTPResponse.Status = .ok, scriptNonce: String? = nil) -> Response {
        let script = scriptNonce.map { "; script-src 'nonce-\($0)'" } ?? ""
        return Response(
            status: status,
            headers: [
                .contentType: "text/html; charset=utf-8",
                .cacheControl: "no-store",
                .contentSecurityPolicy:
                    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'\(script)",
            ],
            body: .init(byteBuffer: ByteBuffer(string: page.markup)))
    }

    static func json(_ value: JSONValue, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status,
            headers: [.contentType: "application/json; charset=utf-8", .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(string: value.encodedText)))
    }

    static func redirect(to location: String) -> Response {
        Response(status: .found, headers: [.location: location, .cacheControl: "no-store"])
    }

    static func text(_ text: String, status: HTTPResponse.Status) -> Response {
        Response(
            status: status, headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(string: text + "\n")))
    }
}
