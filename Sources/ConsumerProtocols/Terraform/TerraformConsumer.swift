import Addresses
import CredentialEngine
import JSON
import Rules
import Secrets

/// The credentials helper protocol of terraform and OpenTofu: one verb and one host, and for `store` a JSON object on
/// stdin.
///
/// They store tokens for a host, which are not git's passwords for it. So the tokens are stored under the URL with
/// which each conversation with the host begins.
public struct TerraformConsumer: Consumer {
    private enum Verb: String {
        case get, store, forget
    }

    /// The path of the document that lists a host's services.
    private static let document = ".well-known/terraform.json"
    /// The user name to store tokens under; terraform has none for them.
    private static let username = "terraform"

    private let arguments: [String]
    private var verb: Verb?
    private var request = CredentialRequest()
    private var input = ToolInput()
    private var stored = StoredSecret()

    /// Creates a consumer for the program's arguments.
    public init(_ arguments: [String]) {
        self.arguments = arguments
    }

    /// terraform sends only the host.
    public static var sendsPath: Bool { false }

    /// Returns the invocation of terraform, which passes the host after the verb.
    public static func invocation(for url: String, of tool: String, atTerminal: Bool) -> Invocation {
        Invocation(["get", (try? RequestURL(url))?.host.urlText ?? url])
    }

    /// Parses the arguments, which are the whole request unless a token is to be stored.
    public mutating func begin() -> Turn {
        guard let word = arguments.dropLast().last else {
            return .fail(
                "this takes a verb and a host",
                remedy: "terraform runs it; to try it: terraform-credentials-lanyard get HOST")
        }
        guard let verb = Verb(rawValue: word) else { return .fail("unknown verb: \(word.displayable(limit: 60))") }
        self.verb = verb
        // terraform's input is read to its end in any case.
        if verb == .store { return Turn(.read) }
        return ask { verb == .get ? .get($0) : .erase($0, .init()) }
    }

    /// Reads all of stdin for `store`, asks the engine once, and answers.
    public mutating func take(_ event: ConsumerEvent) -> Turn {
        switch event {
        case .input([]): store()
        case .input(let bytes): read(bytes)
        case .credential(let credential): answer(credential)
        case .nothing where verb == .store && !stored.isCompared: stored.compare(at: request)
        case .nothing: Turn(output: verb == .get ? Array("{}\n".utf8) : [], .end(0))
        case .refused where stored.isCompared: stored.end(with: nil, orTell: notKept)
        case .refused: Turn(complaint: .refusal, .end(1))
        }
    }

    /// The note that terraform gets a token for the host; terraform itself says that the login succeeded.
    private var notKept: String {
        let host = arguments.last?.displayable(limit: 200) ?? ""
        return "a rule maps https://\(host) to a token, which terraform gets; what terraform sent is not kept"
    }

    private mutating func read(_ bytes: [UInt8]) -> Turn {
        if !input.isTooLong { input.take(bytes) }
        return Turn(.read)
    }

    private mutating func store() -> Turn {
        guard !input.isTooLong else { return .fail("the credentials are longer than 1 MiB") }
        guard let object = JSONValue(bytes: input.all), let token = object["token"]?.string, !token.isEmpty,
            !token.hasControlCharacter
        else { return .fail("the credentials on standard input have no token") }
        guard object.members?.count == 1 else {
            return .fail("lanyard keeps tokens only, and the credentials have more")
        }
        let credential = Credential(.password, Secret(token), username: Self.username)
        stored.secret = credential.secret
        return ask { .store(credential, $0) }
    }

    private mutating func ask(_ question: (CredentialRequest) -> Question) -> Turn {
        guard arguments.count == 2 else { return .fail("there is nothing that `args` could say; leave it empty") }
        guard let url = try? RequestURL("https://\(arguments[1])"), url.path == nil, url.username == nil else {
            return .fail("\(arguments[1].displayable(limit: 200)) is not a host")
        }
        request = CredentialRequest(url)
        request.path = Self.document
        request.isUnattended = true
        return Turn(.ask(question(request)))
    }

    private func answer(_ credential: Credential) -> Turn {
        if stored.isCompared { return stored.end(with: credential, orTell: notKept) }
        return .answer(["token": .string(credential.secret.reveal())])
    }
}
