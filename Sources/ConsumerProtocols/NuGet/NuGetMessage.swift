import JSON
import Secrets

/// A message of NuGet's plugin protocol 2.0: JSON on a line of its own, in both directions.
struct NuGetMessage: Sendable {
    /// What a message is.
    enum Kind: String, Sendable {
        case request = "Request"
        case response = "Response"
        case progress = "Progress"
        case fault = "Fault"
        case cancel = "Cancel"
    }

    /// Names the request, and what belongs to it.
    let id: String
    /// What it is.
    let kind: Kind
    /// What is asked or answered.
    let method: String
    /// What comes with it.
    let payload: JSONValue?

    init(_ id: String, _ kind: Kind, _ method: String, _ payload: JSONValue? = nil) {
        (self.id, self.kind, self.method, self.payload) = (id, kind, method, payload)
    }

    /// Reads a line; nil if it isn't such a message.
    init?(_ line: [UInt8]) {
        guard let object = JSONValue(bytes: line), let id = object["RequestId"]?.string, id.utf8.count <= 256,
            let kind = object["Type"]?.string.flatMap(Kind.init), let method = object["Method"]?.string
        else { return nil }
        self.init(id, kind, method, object["Payload"])
    }

    /// The message's line.
    var line: [UInt8] {
        var object: [String: JSONValue] = [
            "RequestId": .string(id), "Type": .string(kind.rawValue), "Method": .string(method),
        ]
        if let payload { object["Payload"] = payload }
        return JSONValue.object(object).encoded() + [0x0A]
    }

    /// The answer to it.
    func answer(_ payload: JSONValue) -> NuGetMessage { NuGetMessage(id, .response, method, payload) }
}
