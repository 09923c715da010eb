import JSON
import Secrets

/// A message of NuGet's plugin protocol 2.0: one line of JSON, in either direction.
struct NuGetMessage: Sendable {
    enum Kind: String, Sendable {
        case request = "Request"
        case response = "Response"
        case progress = "Progress"
        case fault = "Fault"
        case cancel = "Cancel"
    }

    /// The ID of the request that the message belongs to.
    let id: String
    let kind: Kind
    /// The method that is called or answered.
    let method: String
    /// The arguments or the result; nil if there are none.
    let payload: JSONValue?

    init(_ id: String, _ kind: Kind, _ method: String, _ payload: JSONValue? = nil) {
        (self.id, self.kind, self.method, self.payload) = (id, kind, method, payload)
    }

    /// Parses a line; nil if it isn't such a message.
    init?(_ line: [UInt8]) {
        guard let object = JSONValue(bytes: line), let id = object["RequestId"]?.string, id.utf8.count <= 256,
            let kind = object["Type"]?.string.flatMap(Kind.init), let method = object["Method"]?.string
        else { return nil }
        self.init(id, kind, method, object["Payload"])
    }

    /// The message as a line of JSON.
    var line: [UInt8] {
        var object: [String: JSONValue] = [
            "RequestId": .string(id), "Type": .string(kind.rawValue), "Method": .string(method),
        ]
        if let payload { object["Payload"] = payload }
        return JSONValue.object(object).encoded() + [0x0A]
    }

    /// Returns a response to this request.
    func answer(_ payload: JSONValue) -> NuGetMessage { NuGetMessage(id, .response, method, payload) }
}
