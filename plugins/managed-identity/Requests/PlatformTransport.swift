import HTTP
import OAuth
package import Secrets

/// A request to a service of the machine's platform, as a value.
package struct PlatformRequest: Sendable, Equatable {
    /// The URL without the additions of `query`; `http` or `https`.
    package var url: String
    /// Parameters to append to the URL's query.
    package var query: [String: String]
    /// The headers; any of them may be secret.
    package var headers: [String: Secret]
    /// The form to post; nil for a GET request.
    package var form: [String: String]?

    /// Creates a request; it is a GET if there is no form.
    package init(
        _ url: String, query: [String: String] = [:], headers: [String: Secret] = [:], form: [String: String]? = nil
    ) {
        (self.url, self.query, self.headers, self.form) = (url, query, headers, form)
    }

    /// The HTTP method: POST with a form, else GET.
    package var method: String { form == nil ? "GET" : "POST" }
}

/// HTTP to a service of the machine's platform: never through a proxy, never redirected, one attempt per request,
/// limited in time and size.
///
/// Such a service has no name that a certificate could be for, so some use no TLS; they are on this machine or one hop
/// away. A pinned service is sent nothing until its certificate has proved to be the pinned one.
struct PlatformTransport: Sendable {
    let client: HTTPClient
    /// Headers of every request.
    let headers: [(name: String, value: String)]

    /// Sends a request once, and returns the answer, whatever its status.
    func send(_ request: PlatformRequest, within limit: Duration) async throws(HTTPError) -> HTTPAnswer {
        var fields = headers
        if request.form != nil { fields.append(("content-type", FormEncoding.mediaType)) }
        let own = request.headers.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        let names = Set(own.map { $0.name.lowercased() })
        return try await client.send(
            HTTPRequest(
                request.method, FormEncoding.append(Self.fields(request.query), to: request.url),
                headers: fields.filter { !names.contains($0.name) }.map { ($0.name, Secret($0.value)) } + own,
                body: request.form.map { Array(FormEncoding.encode(Self.fields($0)).utf8) }),
            within: limit)
    }

    private static func fields(_ values: [String: String]) -> [FormEncoding.Field] {
        values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
