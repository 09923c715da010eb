import Addresses
import Files
import JSON
import Model
import Secrets
import Terminal

extension Tool {
    static let terraform = Tool(
        "terraform", relatives: ["tofu", "opentofu"], .link("terraform-credentials-lanyard"),
        { TerraformProtocol($0.arguments) },
        setup: ToolSetup(
            purpose: "terraform and OpenTofu use lanyard as a credentials helper",
            discussion: """
                Adds a `credentials_helper` to `~/.terraformrc`, and to OpenTofu's own file if it doesn't read that one; and the link in \
                `~/.terraform.d/plugins` that both look for. A `credentials` block for a host still comes first.
                """,
            programs: ["terraform", "tofu"], paths: TerraformSettings.paths, settings: TerraformSettings.init))
}

/// terraform and OpenTofu: lanyard becomes their only credentials helper.
struct TerraformSettings: ToolSettings {
    /// Both are read, the second by its former name.
    static let paths = ["TF_CLI_CONFIG_FILE", "TERRAFORM_CONFIG"]

    let place: ToolTarget

    private let program = "terraform-credentials-lanyard"
    private let line = #"credentials_helper "lanyard" {}"#

    func changes() throws(CommandError) -> [ToolChange] {
        let link = try place.link("\(folder)/plugins/\(program)", to: program)
        var files: [String] = []
        for file in mainFiles where try !namesLanyardOtherwise(file) { files.append(file) }
        for file in otherFiles where try namesLanyard(file) { files = [] }
        return [link] + files.map { ToolChange(.line, [line], in: $0, to: line) }
    }

    var files: [String] { mainFiles + otherFiles }

    /// Tokens in variables and files take precedence over the helper, and a second helper is an error.
    func overrides() throws(CommandError) -> [ToolOverride] {
        let files = self.files
        let naming = files.filter { helper(in: $0) != nil }
        var overrides = naming.filter { file in
            helper(in: file) != "lanyard" || otherFiles.contains(file) && naming.count > 1
        }.map { file in
            let what: Message =
                "\(place.context.short(file)) names a credentials helper, too, and terraform allows only one"
            return ToolOverride(hint: "\(what); remove it there")
        }
        for variable in place.context.environment.keys.sorted() where variable.hasPrefix("TF_TOKEN_") {
            let host = variable.dropFirst("TF_TOKEN_".utf8.count).replacing(bytes: "__", with: "-")
                .replacing(bytes: "_", with: ".").displayable(limit: 200)
            let what: Message =
                "\(variable) in the environment has the token for \(host), which comes first"
            overrides.append(ToolOverride(what, unset: variable, part: host))
        }
        let written = "\(folder)/credentials.tfrc.json"
        let program = hasOnlyTofu ? "tofu" : "terraform"
        for file in files {
            for host in hosts(in: file).sorted() {
                let shown = host.displayable(limit: 200)
                let what: Message = "the token for \(shown) in \(place.context.short(file)) comes first"
                let hint: Hint =
                    file == written
                    ? Hint("\(what); to remove it", run: "\(program) logout \(host)") : "\(what); remove it there"
                overrides.append(ToolOverride(part: shown, hint: hint))
            }
        }
        return overrides
    }

    private var folder: String { "\(place.home)/.terraform.d" }

    private var named: String? { Self.paths.lazy.compactMap { place.named($0) }.first }

    /// Returns the files that lanyard writes to; OpenTofu reads terraform's if it has none of its own.
    private var mainFiles: [String] {
        if let named = self.named { return [named] }
        let (terraform, tofu) = ("\(place.home)/.terraformrc", "\(place.home)/.tofurc")
        if place.context.isFile(tofu) { return hasOnlyTofu ? [tofu] : [terraform, tofu] }
        guard hasOnlyTofu, !place.context.isFile(terraform) else { return [terraform] }
        return [place.context.environment.absolutePath("XDG_CONFIG_HOME").map { "\($0)/opentofu/tofurc" } ?? tofu]
    }

    /// Returns the files that are read besides, unless a variable names the only one.
    private var otherFiles: [String] {
        guard named == nil, let folder = try? Folder(self.folder) else { return [] }
        let names = folder.names(atMost: 1000).filter { $0.hasSuffix(".tfrc") || $0.hasSuffix(".tfrc.json") }
        return names.sorted().map { "\(self.folder)/\($0)" }
    }

    private var hasOnlyTofu: Bool {
        place.context.program("tofu") != nil && place.context.program("terraform") == nil
    }

    /// Whether a file names lanyard in another form than `configure` writes; throws if it names another helper.
    private func namesLanyardOtherwise(_ file: String) throws(CommandError) -> Bool {
        guard try namesLanyard(file) else { return false }
        let text = try ToolTarget.text(of: file) ?? ""
        return rows(text).first { $0.hasPrefix(block) } ?? "" != line
    }

    /// Whether a file names lanyard; throws if it names another helper, since two are an error.
    private func namesLanyard(_ file: String) throws(CommandError) -> Bool {
        let text = try ToolTarget.text(of: file) ?? ""
        guard let name = helper(in: text, isJSON: file.hasSuffix(".json")) else { return false }
        guard name != "lanyard" else { return true }
        throw CommandError(
            "\(place.context.short(file)) names a credentials helper already: \(name)",
            hints: ["terraform allows only one; remove that first"])
    }

    private let block = "credentials_helper"

    private func rows(_ text: String) -> [Substring] {
        text.pieces(between: "\n").map { $0.trimmed(of: " \t\r") }
    }

    private func helper(in file: String) -> String? {
        helper(in: place.content(of: file), isJSON: file.hasSuffix(".json"))
    }

    /// Returns the name of the helper in a file's text; nil if it names none.
    private func helper(in text: String, isJSON: Bool) -> String? {
        if isJSON { return JSONValue(bytes: Array(text.utf8))?[block]?.members?.keys.sorted().first }
        return rows(text).lazy.compactMap { label(of: $0, block) }.first
    }

    /// Returns the hosts for which a file has credentials.
    private func hosts(in file: String) -> [String] {
        let text = place.content(of: file)
        guard file.hasSuffix(".json") else { return rows(text).compactMap { label(of: $0, "credentials") } }
        let hosts = JSONValue(bytes: Array(text.utf8))?["credentials"]?.members ?? [:]
        return hosts.filter { $1["token"] != nil }.map(\.key)
    }

    /// Returns the label of a block that a line begins; nil if it begins none of this type.
    private func label(of row: Substring, _ type: String) -> String? {
        guard row.hasPrefix(type) else { return nil }
        let rest = row.dropFirst(type.utf8.count)
        guard let first = rest.utf8.first, !first.isAlphanumeric, first != UInt8(ascii: "_") else { return nil }
        return String((rest.cut(at: "{")?.0 ?? rest).trimmed(of: " \t\""))
    }
}

/// The credentials helper protocol of terraform and OpenTofu: one verb and one host, and for `store` a JSON object on
/// stdin.
///
/// They store tokens for a host, which are not git's passwords for it. So the tokens are stored under the URL with
/// which each conversation with the host begins.
public struct TerraformProtocol: ToolProtocol {
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

    /// Creates a tool for the program's arguments.
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
        guard let verb = Verb(rawValue: word) else { return .fail("unknown verb: \(word)") }
        self.verb = verb
        // terraform's input is read to its end in any case.
        if verb == .store { return Turn(.read) }
        return ask { verb == .get ? .get($0) : .erase($0, .init()) }
    }

    /// Reads all of stdin for `store`, asks the engine once, and answers.
    public mutating func receive(_ event: ToolEvent) -> Turn {
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
    private var notKept: Message {
        "a rule maps https://\(arguments.last ?? "", limit: 200) to a token, which terraform gets; what terraform sent is not kept"
    }

    private mutating func read(_ bytes: [UInt8]) -> Turn {
        if !input.isTooLong { input.append(bytes) }
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
            return .fail("\(arguments[1]) is not a host")
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
