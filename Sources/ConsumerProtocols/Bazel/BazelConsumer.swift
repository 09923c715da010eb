import Addresses
import CredentialEngine
import JSON
import Rules
import Secrets

/// The protocol of Bazel and others that follow EngFlow's credential helper specification (BuildStream, buildbarn, …):
/// one URI on stdin, its headers on stdout.
public struct BazelConsumer: Consumer {
    /// Bazel's default for `--credential_helper_timeout`.
    public static var timeLimit: Int? { 10 }

    private let arguments: [String]
    private var input = ToolInput()

    /// Creates a consumer for Bazel's arguments: `get`.
    public init(_ arguments: [String]) {
        self.arguments = arguments
    }

    /// Returns the invocation of Bazel, which names the URL that it wants to load, with https for gRPC servers.
    public static func invocation(for url: String, of tool: String, atTerminal: Bool) -> Invocation {
        let uri = ["grpc", "grpcs"].contains(StrictURL.scheme(of: url)) ? url.with(scheme: "https") : url
        let request: JSONValue = ["uri": .string(uri)]
        return Invocation(["get"], input: request.encodedText)
    }

    /// Fails for any command but `get`, as the specification requires.
    public mutating func begin() -> Turn {
        guard arguments != ["get"] else { return Turn(.read) }
        return .fail(
            "bazel-credential-lanyard takes one command, get", remedy: "bazel runs it: --credential_helper=PATH")
    }

    /// Reads all of stdin, asks the engine once, and answers.
    public mutating func take(_ event: ConsumerEvent) -> Turn {
        switch event {
        case .input([]): ask()
        case .input(let bytes): input.read(bytes, orEnd: .fail("the request is longer than 1 MiB"))
        case .credential(let credential): answer(credential)
        case .nothing: .answer(["headers": [:]])
        case .refused(let refusal): Turn(complaint: .refusal, .end(refusal.status))
        }
    }

    private func ask() -> Turn {
        guard let uri = JSONValue(bytes: input.all)?["uri"]?.string else {
            return .fail("standard input holds no JSON object with a uri")
        }
        do throws(RequestError) {
            return Turn(.ask(.get(try CredentialRequest(wholeURL: uri, takesAuthorizations: true))))
        } catch {
            return .fail("this can't be a URI: \(uri.displayableURL)")
        }
    }

    private func answer(_ credential: Credential) -> Turn {
        var members: [String: JSONValue] = ["headers": ["Authorization": [.string(credential.authorizationHeader)]]]
        members["expires"] = credential.expiry.map(JSONValue.string)
        return .answer(.object(members))
    }
}
