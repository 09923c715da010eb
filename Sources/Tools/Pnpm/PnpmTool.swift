import Addresses
import Model
import Rules
import Secrets
import Terminal

extension Tool {
    static let pnpm = Tool(
        "pnpm",
        .verb(
            ToolVerb(
                name: "pnpm", abstract: "Print the Authorization header's value for an npm registry.",
                discussion: "pnpm's tokenHelper is a program without arguments, such as a script with this command.",
                argument: "The registry's URL.",
                examples: ["See whether a registry gets a credential": "lanyard pnpm \(Example.url) >/dev/null"])),
        { PnpmProtocol($0.arguments) },
        setup: ToolSetup(
            purpose: "pnpm use lanyard for a registry",
            discussion: """
                Writes a program for the registry, which runs `lanyard pnpm URL`, and names it as the registry's `tokenHelper` in `~/.npmrc`. pnpm \
                ignores token helpers in a project's file. npm and yarn have none; see lanyard-exec(1).
                """,
            url: .required, exampleOfURL: " https://npm.contoso.com/registry", paths: PnpmSettings.paths,
            expandsHome: true, settings: PnpmSettings.init))
}

/// pnpm: lanyard is a registry's token helper, a program without arguments, so each registry has its own.
struct PnpmSettings: ToolSettings {
    static let paths = ["NPM_CONFIG_USERCONFIG", "npm_config_userconfig"]

    let place: ToolTarget

    func changes() throws(CommandError) -> [ToolChange] {
        guard let pattern = place.pattern else { return [] }
        let helper = "\(helpers)/\(fileName(pattern))"
        try requirePlain(helper)
        let command: ShellCommand = "exec \(place.program("lanyard")) pnpm \(pattern.text, limit: 4000)"
        return [
            ToolChange(.script, in: helper, to: "#!/bin/sh\n\(command.text)\n"),
            ToolChange(.lines, ["\(registry(pattern))/:tokenHelper"], in: file, to: helper),
        ]
    }

    /// What is for a longer path counts.
    ///
    /// pnpm 11 and later read two files before this one, which for others are below it.
    func overrides() throws(CommandError) -> [ToolOverride] {
        guard let pattern = place.pattern else { return [] }
        let (own, registry) = (file, "\(registry(pattern))/")
        let others = place.projectFolders.map { "\($0)/.npmrc" } + ["\(place.settings)/pnpm/auth.ini"]
        return (others.filter { $0 != own } + [own]).flatMap { file in
            place.content(of: file).pieces(between: "\n").compactMap { line -> ToolOverride? in
                let (key, value) = line.cut(at: "=") ?? ("", "")
                guard let (uri, name) = key.trimmed(of: " \t\"").cut(atLast: ":"), uri.hasPrefix(registry),
                    ["_authToken", "_auth", "_password", "tokenHelper"].contains(String(name)),
                    uri != registry || file != own, !value.hasBytes("\(helpers)/")
                else { return nil }
                let shown = String(uri).displayable(limit: 200)
                return ToolOverride(
                    part: shown,
                    hint: "\(place.context.short(file)) has \(name) for \(shown), which comes first; remove it")
            }
        }
    }

    private var helpers: String { "\(place.data)/lanyard/token-helpers" }

    private var file: String {
        Self.paths.lazy.compactMap { place.named($0, expandsHome: true) }.first ?? "\(place.home)/.npmrc"
    }

    func remarks() throws(CommandError) -> [Hint] {
        guard let pattern = place.pattern, !pattern.request.isTokenPlace else { return [] }
        return ["no token is sent over http, only a password that is stored for the registry"]
    }

    /// Returns the registry as in npm's settings, without the slash at its end.
    private func registry(_ pattern: URLPattern) -> String {
        let place = pattern.text.cut(at: ":")?.1 ?? pattern.text[...]
        return String(place.utf8.last == UInt8(ascii: "/") ? place.dropLast() : place)
    }

    /// Returns a separate file name for each URL, with no special characters for shells.
    private func fileName(_ pattern: URLPattern) -> String {
        "\(pattern.host.name)-\(place.context.digest(of: pattern.text).prefix(12))".replacing(bytes: ":", with: "-")
    }

    /// Throws if pnpm, or the shell that runs the program, would misread a path.
    private func requirePlain(_ path: String) throws(CommandError) {
        guard !path.utf8.allSatisfy({ $0.isAlphanumeric || "/._-".utf8.contains($0) }) else { return }
        throw CommandError(
            "pnpm can't run a token helper at \(path)",
            hints: ["set XDG_DATA_HOME to a folder with letters, digits, dots, hyphens and underscores in its path"])
    }
}

/// The protocol of pnpm's `tokenHelper`, a program without arguments that prints the value of an `Authorization`
/// header; lanyard takes the URL as an argument.
public struct PnpmProtocol: ToolProtocol {
    private let arguments: [String]
    private var request = CredentialRequest()

    /// Creates a tool for a token helper; the argument is the registry's URL.
    public init(_ arguments: [String]) {
        self.arguments = arguments
    }

    /// Asks the engine at once; pnpm writes nothing.
    public mutating func begin() -> Turn {
        guard arguments.count == 1 else { return .fail("lanyard pnpm takes the registry's URL", status: 64) }
        guard let request = try? CredentialRequest(wholeURL: arguments[0], takesAuthorizations: true) else {
            return .fail("\(arguments[0].displayableURL) is not a URL", status: 64)
        }
        self.request = request
        return Turn(.ask(.get(request)))
    }

    /// Answers with the header, or fails; pnpm reports empty output as a different error.
    public mutating func receive(_ event: ToolEvent) -> Turn {
        switch event {
        case .credential(let credential): answer(credential)
        case .nothing, .input:
            .fail("there is no credential for \(request.url)", remedy: remedy)
        case .refused: Turn(complaint: .refusal, .end(1))
        }
    }

    /// The remedy if there is no credential; no rule can map an http URL.
    private var remedy: Message {
        guard request.scheme == "http", request.host?.name != "localhost" else {
            let command: ShellCommand = "lanyard rule add \(request.url)"
            return "make a rule: \(command)"
        }
        return "tokens are not sent over http; use the registry's https URL"
    }

    /// Registries of npm's packages take every token as Bearer, even if it is a password elsewhere.
    private func answer(_ credential: Credential) -> Turn {
        let header =
            credential.isBearer ? "Bearer \(credential.secret.reveal())" : credential.authorizationHeader
        guard !header.hasControlCharacter else { return Turn(complaint: .unwritable(request), .end(1)) }
        return .answer(header)
    }
}
