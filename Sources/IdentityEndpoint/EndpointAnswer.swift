package import JSON
import OAuth

/// The endpoint's answer.
package struct EndpointAnswer: LoopbackAnswer, Error, Equatable {
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
