import Addresses
import Glibc
import JSON
import Model
import Secrets
import SettingsFile
import Terminal

extension Tool {
    static let cargo = Tool(
        "cargo", .link("cargo-credential-lanyard"), { CargoProtocol($0.arguments) },
        setup: ToolSetup(
            purpose: "cargo use lanyard as a credential provider",
            discussion: """
                Adds lanyard to `global-credential-providers` in cargo's config.toml. Tokens that `cargo login` keeps still apply to registries that \
                lanyard has no credential for. It needs cargo 1.74 or later.
                """,
            oldest: { _ in ToolVersion(1, 74) }, newer: { _ in "install a newer one from https://rustup.rs" },
            paths: ["CARGO_HOME"], settings: CargoSettings.init))
}

/// cargo: lanyard becomes the last global credential provider, which cargo asks first.
struct CargoSettings: ToolSettings {
    let place: ToolTarget

    func changes() throws(CommandError) -> [ToolChange] {
        let file = self.file
        let setting = ToolSetting(.toml, ["registry", "global-credential-providers"], in: file)
        // Cargo takes what follows a blank for arguments.
        let program = try place.word("cargo-credential-lanyard", for: "cargo") { $0.hasBytes(" ") ? nil : $0 }
        return [ToolChange(setting: setting, value: try list(try setting.current(), with: program, file))]
    }

    var files: [String] { [file] }

    /// cargo joins the lists of all its files and of the variable, and asks the last provider first.
    ///
    /// That is the variable's, then those of the nearest folder. A registry's own provider is the only one that it asks.
    func overrides() throws(CommandError) -> [ToolOverride] {
        let files = projectFiles + [file]
        let variable = "CARGO_REGISTRY_GLOBAL_CREDENTIAL_PROVIDERS"
        var lists = [(variable, (place.context.variable(variable) ?? "").pieces(between: " ").map(String.init))]
        var registries: [ToolOverride] = []
        for file in files {
            let shown = place.context.short(file)
            guard let table = try? SettingsTable(file: file, text: place.content(of: file)) else { continue }
            let registry = try? table.table("registry")
            lists.append((shown, (try? registry?.strings("global-credential-providers")) ?? []))
            let all = try? table.table("registries")
            let named = (all?.keys ?? []).map { ($0, try? all?.table($0)) } + [("crates.io", registry)]
            for (name, table) in named where table.map(hasLanyard) == false {
                guard let table, provider(table) != nil else { continue }
                let part = name.displayable(limit: 100)
                registries.append(
                    ToolOverride(part: part, isChoice: true, hint: "\(shown) has another provider for \(part)"))
            }
        }
        var overrides: [ToolOverride] = []
        for (place, providers) in lists {
            let last = providers.lastIndex { $0.hasBytes(program) }
            for other in providers[(last.map { $0 + 1 } ?? 0)...].reversed() {
                let other = String(other.pieces(between: " ").first ?? "").displayable(limit: 60)
                overrides.append(
                    ToolOverride(
                        part: "what \(other) has",
                        hint: "\(other) is in \(place), so that cargo asks it before lanyard; remove it there"))
            }
            if last != nil { break }
        }
        return overrides + registries
    }

    private let program = "cargo-credential-lanyard"

    /// Returns the files of the projects around the working folder, the nearest first.
    private var projectFiles: [String] {
        place.projectFolders.map { "\($0)/.cargo" }.filter { $0 != home }.map(file(in:))
            .filter(place.context.isFile)
    }

    var urlsFound: [String] {
        let file = self.file
        guard let text = (try? SettingsText(reading: file))?.text,
            let registries = try? SettingsTable(file: file, text: text).table("registries")
        else { return [] }
        return registries.keys.compactMap { name in
            guard let registry = try? registries.table(name), hasLanyard(registry) else { return nil }
            let index = (try? registry.string("index")) ?? name
            return String(index.hasPrefix("sparse+") ? index.dropFirst("sparse+".count) : index[...])
        }
    }

    /// Whether a registry has lanyard as its own provider, in a line of words or a list of them.
    private func hasLanyard(_ registry: SettingsTable) -> Bool { provider(registry)?.hasBytes(program) == true }

    private func provider(_ registry: SettingsTable) -> String? {
        let key = "credential-provider"
        return (try? registry.strings(key))?.first ?? (try? registry.string(key))
    }

    private var home: String { place.path("CARGO_HOME", else: ".cargo") }

    private var file: String { file(in: home) }

    /// Returns the path of the configuration in a folder; cargo prefers the old name if both files exist.
    private func file(in folder: String) -> String {
        access("\(folder)/config", F_OK) == 0 ? "\(folder)/config" : "\(folder)/config.toml"
    }

    /// Returns the list of providers with lanyard added.
    private func list(_ old: String?, with program: String, _ file: String) throws(CommandError) -> String {
        let new = "\"\(program.inTOMLString)\""
        guard let old else { return "[\"cargo:token\", \(new)]" }
        guard !old.hasBytes("cargo-credential-lanyard") else { return old }
        let body = old.dropLast().trimmed(of: " \t\r\n,")
        guard old.utf8.first == UInt8(ascii: "["), old.utf8.last == UInt8(ascii: "]"), !body.hasBytes("#") else {
            throw CommandError(
                "\(file) has a list of providers that lanyard can't safely extend",
                hints: [Hint("add to global-credential-providers", write: new)])
        }
        return body.utf8.count == 1 ? "[\(new)]" : "\(body), \(new)]"
    }
}

extension String {
    fileprivate var inTOMLString: String {
        replacing(bytes: #"\"#, with: #"\\"#).replacing(bytes: #"""#, with: #"\""#)
    }
}

/// The credential provider protocol of cargo 1.74 and later (The Cargo Book, "Credential Provider Protocol"): lanyard
/// greets cargo, which sends one request per line until it closes the input.
///
/// The credential is the whole `Authorization` header. Only registries with a sparse index are served. Any other index
/// is a git repository, and the credential for its host would go to whatever registry the index names: GitHub's to
/// crates.io, for example.
public struct CargoProtocol: ToolProtocol {
    /// The question that the engine is answering.
    private enum Action {
        case get, login, logout
        /// Storing a header, and then checking that `get` returns it.
        case keep(String), compare(String)

        /// The action's name in cargo's protocol.
        var name: String {
            switch self {
            case .get: "get"
            case .logout: "logout"
            case .login, .keep, .compare: "login"
            }
        }
    }

    /// The result of a line.
    private enum Served {
        case reply(JSONValue)
        case ask(Question)
    }

    private let arguments: [String]
    private var input = ToolInput()
    private var hasEnded = false
    private var action = Action.get
    private var request = CredentialRequest()

    /// Creates a tool for cargo's arguments: `--cargo-plugin`.
    public init(_ arguments: [String]) {
        self.arguments = arguments
    }

    /// The prefix of a sparse index's URL; every other index is a git repository.
    public static let sparse = "sparse+"

    /// Returns the invocation of cargo, which sends a registry's index URL as it is in cargo's settings.
    public static func invocation(for url: String, of tool: String, atTerminal: Bool) -> Invocation {
        let request: JSONValue = [
            "v": 1, "kind": "get", "operation": "read", "registry": ["index-url": .string(url)],
        ]
        return Invocation(["--cargo-plugin"], input: "\(request.encodedText)\n")
    }

    /// Greets cargo with the supported versions of the protocol.
    public mutating func begin() -> Turn {
        guard arguments == ["--cargo-plugin"] else {
            let remedy: Message = "name it in global-credential-providers in ~/.cargo/config.toml"
            return .fail("cargo-credential-lanyard is run by cargo", remedy: remedy)
        }
        return Turn(output: Self.line(["v": [1]]), .read)
    }

    /// Answers each line, in order.
    public mutating func receive(_ event: ToolEvent) -> Turn {
        switch event {
        case .input(let bytes):
            // The last line may lack its line feed.
            hasEnded = bytes.isEmpty
            input.append(bytes.isEmpty && !input.all.isEmpty ? [0x0A] : bytes)
            return input.isTooLong ? fail("the request is longer than 1 MiB") : proceed()
        case .credential(let credential): return proceed(with: answer(credential))
        case .nothing: return proceed(with: answerWithout())
        case .refused(let refusal): return proceed(with: .reply(.error(refusal.text)))
        }
    }

    /// Serves the lines that have arrived until one needs the engine.
    private mutating func proceed(with first: Served? = nil) -> Turn {
        var (output, served) = ([] as [UInt8], first)
        while true {
            switch served {
            case .reply(let value): output += Self.line(value)
            case .ask(let question): return Turn(output: output, .ask(question))
            case nil: break
            }
            guard let line = input.line() else { return Turn(output: output, hasEnded ? .end(0) : .read) }
            guard let message = JSONValue(bytes: line), message.members != nil else {
                return Turn(output: output + Self.line(.error("the request is not cargo's JSON")), .end(1))
            }
            served = serve(message)
        }
    }

    private mutating func serve(_ message: JSONValue) -> Served {
        guard message["v"]?.integer == 1 else { return .reply(.error("the request is not of version 1")) }
        guard let request = Self.request(for: message["registry"]) else { return .reply(.unsupportedURL) }
        self.request = request
        switch message["kind"]?.string {
        case "get": action = .get
        case "logout": action = .logout
        case "login": return login(with: message["token"]?.string)
        default: return .reply(.unsupportedOperation)
        }
        if case .logout = action { return .ask(.erase(request, .init())) }
        return .ask(.get(request))
    }

    /// Stores a typed header unchanged; without one, signs in.
    private mutating func login(with header: String?) -> Served {
        guard let header else {
            action = .login
            return .ask(.get(request))
        }
        guard !header.isEmpty, !header.hasControlCharacter else {
            return .reply(.error("what was typed can't be a header"))
        }
        action = .keep(header)
        let parts = header.cut(at: " ").flatMap { $0.0.isEmpty ? nil : $0 } ?? ("", header[...])
        let credential = Credential(.authorization(scheme: String(parts.0)), Secret(String(parts.1)), username: nil)
        return .ask(.store(credential, request))
    }

    private func answer(_ credential: Credential) -> Served {
        switch action {
        case .get: .reply(.credential(credential))
        case .compare(let header) where !header.isSame(as: credential.registryHeader):
            .reply(.error("a rule maps \(request.url) to a token of lanyard's own; what was typed is not kept"))
        case .login, .logout, .keep, .compare: .reply(.done(action.name))
        }
    }

    /// Answers if the engine has no credential, or has finished storing or erasing.
    private mutating func answerWithout() -> Served {
        switch action {
        case .get: return .reply(.notFound)
        case .logout: return .reply(.done(action.name))
        case .keep(let header):
            action = .compare(header)
            request.isUnattended = true
            return .ask(.get(request))
        case .login, .compare:
            let adding: ShellCommand = "lanyard rule add\(last: request.url)"
            return .reply(
                .error("no rule maps \(request.url); \(adding.text), or give cargo login the token to keep"))
        }
    }

    /// Returns the request for a registry; nil if lanyard doesn't serve it.
    private static func request(for registry: JSONValue?) -> CredentialRequest? {
        guard let index = registry?["index-url"]?.string, index.utf8.starts(with: sparse.utf8),
            var request = try? CredentialRequest(
                wholeURL: String(Substring(index.utf8.dropFirst(sparse.utf8.count))), takesAuthorizations: true)
        else { return nil }
        // cargo waits, and leaves its terminal to its providers.
        request.isUnattended = false
        for header in registry?["headers"]?.elements ?? [] { request.hear(header: header.string ?? "") }
        return request
    }

    private func fail(_ message: String) -> Turn { Turn(output: Self.line(.error(message)), .end(1)) }

    private static func line(_ value: JSONValue) -> [UInt8] { value.encoded() + [0x0A] }
}

extension Credential {
    /// The `Authorization` header for a registry of crates.
    ///
    /// cargo has no user names, so a token that is a password elsewhere comes without a scheme, as what is typed at a login does.
    fileprivate var registryHeader: String {
        kind == .accessToken && !takesBearer ? secret.reveal() : authorizationHeader
    }
}

extension JSONValue {
    /// Makes cargo ask the next provider.
    fileprivate static let unsupportedURL: JSONValue = ["Err": ["kind": "url-not-supported"]]
    /// Makes cargo ask the next provider.
    fileprivate static let notFound: JSONValue = ["Err": ["kind": "not-found"]]
    fileprivate static let unsupportedOperation: JSONValue = ["Err": ["kind": "operation-not-supported"]]

    /// Makes cargo give up and show the message.
    fileprivate static func error(_ message: String) -> JSONValue {
        ["Err": ["kind": "other", "message": .string(message), "caused-by": []]]
    }

    fileprivate static func done(_ kind: String) -> JSONValue { ["Ok": ["kind": .string(kind)]] }

    /// Returns a credential that cargo caches until it expires, or else for as long as cargo runs.
    fileprivate static func credential(_ credential: Credential) -> JSONValue {
        var members: [String: JSONValue] = [
            "kind": "get", "token": .string(credential.registryHeader), "operation_independent": true,
            "cache": "session",
        ]
        if let end = credential.end {
            members["cache"] = "expires"
            members["expiration"] = .integer(Int64(end))
        }
        return ["Ok": .object(members)]
    }
}
