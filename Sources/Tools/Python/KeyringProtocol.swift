import Addresses
import JSON
import Model
import Secrets
import Terminal

/// The keyring library's command `keyring`, which pip, uv, pdm and other tools run: a request in arguments, for `set`
/// with a password on stdin.
///
/// They ask for an index's whole URL first and, if that has no credential, for its host alone. The host alone doesn't
/// say which scheme the password would travel by, so `get` returns nothing for it; `set` and `del` assume https.
public struct KeyringProtocol: ToolProtocol {
    private static let usage = """
        usage: keyring [--mode creds|password] [--output plain|json] get URL [USER]
               keyring set URL USER <PASSWORD
               keyring del URL USER

        """

    private let arguments: [String]
    private let isTyped: Bool
    private var wanted: KeyringArguments?
    private var request = CredentialRequest()
    private var input = ToolInput()
    private var stored = StoredSecret()

    /// Creates a tool for the tool's arguments; `isTyped` is whether stdin is a terminal, which would show a
    /// password.
    public init(_ arguments: [String], isTyped: Bool) {
        self.arguments = arguments
        self.isTyped = isTyped
    }

    /// Returns the invocation of pip and uv, which name the index, and ask for its user name, too.
    public static func invocation(for url: String, of tool: String, atTerminal: Bool) -> Invocation {
        Invocation(["--mode=creds", "--output=json", "get", url])
    }

    /// Parses the arguments, which are the whole request unless a password is to be stored.
    public mutating func begin() -> Turn {
        guard !arguments.contains(where: { $0 == "--help" || $0 == "-h" }) else {
            return Turn(output: Array(Self.usage.utf8), .end(0))
        }
        do throws(CommandError) {
            let wanted = try KeyringArguments(arguments)
            self.wanted = wanted
            return begin(wanted)
        } catch {
            return .fail(error.message, remedy: "keyring --help lists what there is", status: 2)
        }
    }

    private mutating func begin(_ wanted: KeyringArguments) -> Turn {
        let isURL = StrictURL.scheme(of: wanted.service) != nil
        guard let url = try? RequestURL(wanted.service.withHTTPS),
            ["http", "https"].contains(url.scheme)
        else {
            return wanted.verb == .get
                ? Turn(.end(1)) : .fail("\(wanted.service) is neither a URL nor a host")
        }
        request = CredentialRequest(url)
        request.username = wanted.username ?? url.username
        request.isUnattended = true
        switch wanted.verb {
        case .get:
            request.reach = .above
            return isURL ? Turn(.ask(.get(request))) : Turn(.end(1))
        case .del: return Turn(.ask(.erase(request, .init(mustExist: true))))
        case .set:
            guard !isTyped else {
                return .fail(
                    "a terminal would show the password",
                    remedy: "pass it by a pipe: read -rs P; echo \"$P\" | keyring set …")
            }
            return Turn(.read)
        }
    }

    /// Asks the engine once, and answers.
    public mutating func receive(_ event: ToolEvent) -> Turn {
        switch event {
        case .input([]): store()
        case .input(let bytes): input.read(bytes, orEnd: .fail("the password is longer than 1 MiB"))
        case .credential(let credential): answer(credential)
        case .nothing where wanted?.verb == .set && !stored.isCompared: stored.compare(at: request)
        case .nothing: Turn(.end(wanted?.verb == .get ? 1 : 0))
        case .refused where stored.isCompared: stored.end(with: nil, orTell: notKept)
        case .refused: Turn(complaint: .refusal, .end(1))
        }
    }

    /// The note that a rule maps the URL to a token.
    private var notKept: Message {
        "a rule maps \(request.url) to a token, which tools get; the password is not kept"
    }

    /// Stores all of stdin, without one line feed at its end.
    private mutating func store() -> Turn {
        guard var password = input.text else { return .fail("the password is not UTF-8") }
        if password.utf8.last == UInt8(ascii: "\n") { password.unicodeScalars.removeLast() }
        guard !password.isEmpty, !password.hasControlCharacter else {
            return .fail("standard input holds no valid password", remedy: "it must be one line")
        }
        let credential = Credential(.password, Secret(password), username: request.username)
        stored.secret = credential.secret
        return Turn(.ask(.store(credential, request)))
    }

    private func answer(_ credential: Credential) -> Turn {
        if stored.isCompared { return stored.end(with: credential, orTell: notKept) }
        // keyring can't represent an authorization with another scheme.
        if case .authorization = credential.kind { return Turn(.end(1)) }
        let values = [("username", credential.passwordUsername), ("password", credential.secret.reveal())]
            .dropFirst(wanted?.form.hasUsername == true ? 0 : 1)
        if wanted?.form.isJSON == true {
            let members = values.map { ($0, JSONValue.string($1)) }
            return .answer(.object(Dictionary(uniqueKeysWithValues: members)))
        }
        guard !values.contains(where: { $1.hasControlCharacter }) else {
            return Turn(complaint: .unwritable(request), .end(1))
        }
        return Turn(output: values.flatMap { Array("\($1)\n".utf8) }, .end(0))
    }
}

/// The arguments of the keyring library's command `keyring`; as in argparse, options may be anywhere.
///
/// Mistakes are in argparse's words, which pip compares.
struct KeyringArguments: Equatable {
    enum Verb: String, CaseIterable {
        case get, set, del
    }

    let verb: Verb
    /// The place as the tool names it.
    let service: String
    /// The user name; nil if any will do.
    let username: String?
    /// The format of the answer to `get`.
    let form: Form

    /// A format of answers.
    struct Form: Equatable {
        /// Whether the answer includes the user name.
        var hasUsername = false
        /// Whether the answer is JSON.
        var isJSON = false
    }

    /// Parses the arguments.
    init(_ arguments: [String]) throws(CommandError) {
        var form = Form()
        let values = try Self.values(of: arguments, &form)
        guard let first = values.first else {
            throw CommandError("the following arguments are required: operation")
        }
        guard let verb = Verb(rawValue: first) else {
            let known = Verb.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandError("invalid choice: '\(first)' (choose from \(known))")
        }
        guard values.count <= 3 else { throw CommandError(unrecognized: values[3]) }
        self.verb = verb
        self.form = form
        service = values.count > 1 ? values[1] : ""
        username = values.count > 2 && !values[2].isEmpty ? values[2] : nil
        let needsUsername = verb != .get || !form.hasUsername && values.count < 3
        guard !service.isEmpty, username != nil || !needsUsername else {
            throw CommandError("\(verb.rawValue) requires service\(needsUsername ? " and username" : "")")
        }
    }

    /// Returns the arguments that aren't options, in order, and stores the options in `form`.
    private static func values(of arguments: [String], _ form: inout Form) throws(CommandError) -> [String] {
        var values: [String] = []
        var rest = arguments[...]
        var areOptionsOver = false
        while let word = rest.popFirst() {
            if areOptionsOver || word.utf8.first != UInt8(ascii: "-") {
                values.append(word)
            } else if word == "--" {
                areOptionsOver = true
            } else {
                try form.read(option: word, &rest)
            }
        }
        return values
    }
}

extension KeyringArguments.Form {
    fileprivate mutating func read(option word: String, _ rest: inout ArraySlice<String>) throws(CommandError) {
        let parts = word.pieces(between: "=", maxSplits: 1, omittingEmpty: false).map(String.init)
        let name = parts[0]
        guard ["--mode", "--output"].contains(name) else { throw CommandError(unrecognized: word) }
        guard let value = parts.count > 1 ? parts[1] : rest.popFirst() else {
            throw CommandError("argument \(name): expected one argument")
        }
        switch (name, value) {
        case ("--mode", "creds"): hasUsername = true
        case ("--mode", "password"): hasUsername = false
        case ("--output", "json"): isJSON = true
        case ("--output", "plain"): isJSON = false
        default:
            throw CommandError("argument \(name): invalid choice: '\(value)'")
        }
    }
}

extension CommandError {
    fileprivate init(unrecognized word: String) {
        self.init("unrecognized arguments: \(word)")
    }
}
