import Addresses
package import JSON
import OAuth
import Secrets

/// A request to the endpoint.
package struct EndpointRequest: Sendable {
    /// The headers that matter here.
    private static let names = [
        "host", "authorization", "content-type", "forwarded", "x-forwarded-for", "x-identity-header",
    ]

    package let method: String
    /// The path and query.
    package let target: String
    /// The headers' values by name, in lower case.
    package let headers: [String: [String]]
    /// The body; nil if it exceeded the size limit.
    package let body: String?

    /// Creates a request; the headers' names must be in lower case.
    package init(method: String, target: String, headers: [String: [String]], body: String? = "") {
        (self.method, self.target, self.headers, self.body) = (method, target, headers, body)
    }

    init(_ request: LoopbackRequest) {
        self.init(
            method: request.methodName, target: request.target,
            headers: Dictionary(uniqueKeysWithValues: Self.names.map { ($0, request.values(of: $0)) }),
            body: request.body)
    }

    /// Returns the value of a header; nil unless there is exactly one.
    func header(_ name: String) -> String? {
        guard let values = headers[name], values.count == 1 else { return nil }
        return values[0]
    }

    var path: Substring { target.cut(at: "?")?.0 ?? target[...] }

    /// The query's fields, without names that occur twice.
    var query: [String: String] { target.cut(at: "?").map { FormEncoding.decode($0.1) } ?? [:] }

    /// Whether the `Host` header names this computer, which it doesn't for a web page that has its own name resolve to
    /// this computer.
    func isFor(port: Int) -> Bool {
        header("host").flatMap { RequestHost($0) }?.isThisMachine(at: port) ?? false
    }

    /// Whether a proxy forwarded the request.
    var isForwarded: Bool {
        ["forwarded", "x-forwarded-for"].contains { headers[$0]?.isEmpty == false }
    }
}

extension Secret {
    /// Whether a text equals this secret; the time taken reveals only the length.
    func isSame(as text: String) -> Bool {
        let (one, other) = (Array(reveal().utf8), Array(text.utf8))
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// The endpoint's answer.
package struct EndpointAnswer: LoopbackAnswer, Equatable {
    /// The HTTP status.
    package let status: Int
    /// The body.
    package let body: JSONValue

    /// Creates an answer.
    package init(_ status: Int, _ body: JSONValue) {
        (self.status, self.body) = (status, body)
    }

    /// Returns a refusal in App Service's format, whose message SDKs show.
    static func refusal(_ status: Int, _ message: String) -> EndpointAnswer {
        EndpointAnswer(status, ["statusCode": .integer(Int64(status)), "message": .string("lanyard: \(message)")])
    }

    /// The headers, which forbid caching.
    package var headers: [(String, String)] {
        [
            ("content-type", "application/json; charset=utf-8"), ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"), ("connection", "close"),
        ]
    }

    /// The encoded body.
    package var content: String { body.encodedText }

    /// The answer to a request from another user of the computer.
    package static let otherUser = refusal(403, "only processes of the user who runs the command get tokens")
}
