package import JSON
import OAuth

/// What the endpoint answers.
package struct EndpointAnswer: LoopbackAnswer, Error, Equatable {
    /// The HTTP status.
    package let status: Int
    /// The body.
    package let body: JSONValue

    /// Makes an answer.
    package init(_ status: Int, _ body: JSONValue) {
        (self.status, self.body) = (status, body)
    }

    /// A refusal in the form of App Service's, whose message SDKs show.
    static func refusal(_ status: Int, _ message: String) -> EndpointAnswer {
        EndpointAnswer(status, ["statusCode": .integer(Int64(status)), "message": .string("lanyard: \(message)")])
    }

    /// What is sent besides: nothing keeps it.
    package var headers: [(String, String)] {
        [
            ("content-type", "application/json; charset=utf-8"), ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"), ("connection", "close"),
        ]
    }

    /// What is sent.
    package var content: String { body.encodedText }

    /// The answer to another user of the computer.
    package static let otherUser = refusal(403, "only processes of the user who runs the command get tokens")
}
