import Addresses
import JSON
import Model
import Secrets
import SettingsFile
import Terminal

/// The protocol of kubectl, helm, k9s and other programs based on client-go: the request is in a variable, the answer
/// an `ExecCredential` on stdout.
///
/// A program runs a failing plugin up to five times per command.
public struct KubectlProtocol: ToolProtocol {
    /// client-go accepts tokens only.
    public static var takesPasswords: Bool { false }

    /// client-go runs a failing plugin again.
    public static var triesAgain: Bool { true }

    /// The variable that contains the request.
    public static let variable = "KUBERNETES_EXEC_INFO"
    private static let versions = ["v1", "v1beta1"].map { "client.authentication.k8s.io/\($0)" }
    private static let kind = "ExecCredential"

    private let arguments: [String]
    private let info: String?
    /// The API version of the request, which the answer must repeat.
    private var version = ""
    private var request = CredentialRequest()

    /// Creates a tool for the program's arguments: none, or the URL that the token is for.
    public init(_ arguments: [String], environment: [String: String]) {
        self.arguments = arguments
        info = environment[Self.variable]
    }

    /// Returns the invocation of kubectl, which names the cluster, and says whether it runs at a terminal.
    public static func invocation(for url: String, of tool: String, atTerminal: Bool) -> Invocation {
        let info: JSONValue = [
            "apiVersion": .string(versions[0]), "kind": .string(kind),
            "spec": ["interactive": .bool(atTerminal), "cluster": ["server": .string(url)]],
        ]
        return Invocation(environment: [variable: info.encodedText])
    }

    /// Parses the request, which is complete, and asks the engine.
    public mutating func begin() -> Turn {
        guard arguments.count <= 1 else { return .fail("lanyard kubectl takes one URL at most", status: 64) }
        guard let info, !info.isEmpty else {
            return .fail(
                "\(Self.variable) is not set",
                remedy: "kubectl sets it for the command in a kubeconfig's users[].user.exec")
        }
        guard let object = JSONValue(bytes: info.utf8, atMost: ToolInput.longest),
            object["kind"]?.string == Self.kind, let version = object["apiVersion"]?.string
        else { return .fail("\(Self.variable) holds no \(Self.kind)") }
        guard Self.versions.contains(version) else {
            return .fail(
                "lanyard doesn't know apiVersion \(version)",
                remedy: "in the kubeconfig, write: apiVersion: \(Self.versions[0])")
        }
        self.version = version
        return ask(object["spec"] ?? [:])
    }

    private mutating func ask(_ spec: JSONValue) -> Turn {
        let cluster = spec["cluster"]
        if let text = arguments.first ?? cluster?["server"]?.string {
            guard let request = try? CredentialRequest(wholeURL: text, takesAuthorizations: true) else {
                return .fail("\(text.displayableURL) is not a URL")
            }
            self.request = request
        }
        if let config = cluster?["config"], let wrong = request.explicit.read(config) {
            return .fail("\(wrong), in the kubeconfig's extension client.authentication.k8s.io/exec")
        }
        guard request.host != nil || !request.explicit.isEmpty else {
            return .fail(
                "nothing says which cluster this is for",
                remedy: "in the kubeconfig, write: provideClusterInfo: true, or give the URL as an argument")
        }
        request.isUnattended = spec["interactive"] != true
        return Turn(.ask(.get(request)))
    }

    /// Answers with the token.
    public mutating func receive(_ event: ToolEvent) -> Turn {
        switch event {
        case .credential(let credential): answer(credential)
        case .nothing, .input:
            .fail(
                "no rule maps \(request.url)",
                remedy: "make one: \("lanyard rule add\(last: request.url)" as ShellCommand)")
        case .refused: Turn(complaint: .refusal, .end(1))
        }
    }

    private func answer(_ credential: Credential) -> Turn {
        guard credential.isBearer else {
            return .fail("what is stored for \(request.url) is no token, and clusters take no passwords")
        }
        var status: [String: JSONValue] = ["token": .string(credential.secret.reveal())]
        status["expirationTimestamp"] = credential.expiry.map(JSONValue.string)
        return .answer(["apiVersion": .string(version), "kind": .string(Self.kind), "status": .object(status)])
    }
}

extension CredentialRequest.ExplicitToken {
    /// Reads the cluster's extension `client.authentication.k8s.io/exec` from the kubeconfig; its keys are those of a
    /// rule.
    ///
    /// Other keys may be for another program that the same cluster is used with.
    ///
    /// - Returns: What is wrong, such as a key that is misspelt; nil if nothing is.
    fileprivate mutating func read(_ config: JSONValue) -> Message? {
        // client-go writes null for a cluster without the extension.
        if config == .null { return nil }
        guard case .object(let members) = config else { return "there is no table" }
        for (key, value) in members.sorted(by: { $0.key < $1.key }) {
            switch (key, value) {
            case ("authority", .string(let text)): authority = text
            case ("client-id", .string(let text)): clientID = text
            case ("account", .string(let text)): account = text
            case ("scopes", .array(let items)) where items.allSatisfy({ $0.string != nil }):
                scopes = items.compactMap(\.string)
            case ("token", .string(let text)):
                tokenName = text
                guard token != nil else { return "\(text, limit: 40) is no `token`: write id or access" }
            case _ where Self.keys.contains(key):
                return "`\(key)` must be \(key == "scopes" ? "a list of texts" : "a text")"
            default:
                guard let near = Self.keys.nearest(to: key) else { continue }
                return "`\(key, limit: 40)` is unknown: did you mean `\(near)`?"
            }
        }
        return nil
    }

    private static let keys = ["authority", "client-id", "scopes", "account", "token"]
}
