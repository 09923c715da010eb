import Addresses
import Rules
import Secrets
import Terminal
import TokenStore
import ToolTexts

/// pnpm: lanyard is a registry's token helper, a program without arguments, so each registry has its own.
enum PnpmTool: ConfigurableTool {
    static let name = "pnpm"
    static let purpose = "pnpm use lanyard for a registry"
    static let discussion = """
        Writes a program for the registry, which runs `lanyard pnpm URL`, and names it as the registry's `tokenHelper` in `~/.npmrc`. pnpm \
        ignores token helpers in a project's file. npm and yarn have none; see lanyard-exec(1).
        """
    static let url = ToolURL.required
    static let exampleOfURL = " https://npm.contoso.com/registry"
    static let paths = ["NPM_CONFIG_USERCONFIG", "npm_config_userconfig"]
    static let expandsHome = true

    static func changes(_ place: ToolPlace) throws(Failure) -> [ToolChange] {
        guard let pattern = place.pattern else { return [] }
        let helper = "\(helpers(place))/\(fileName(pattern))"
        try requirePlain(helper)
        let command: ShellCommand = "exec \(place.program("lanyard")) pnpm \(pattern.text, limit: 4000)"
        return [
            ToolChange(.script, in: helper, to: "#!/bin/sh\n\(command.text)\n"),
            ToolChange(.lines, ["\(registry(pattern))/:tokenHelper"], in: file(place), to: helper),
        ]
    }

    /// What is for a longer path counts.
    ///
    /// pnpm 11 and later read two files before this one, which for others are below it.
    static func overrides(_ place: ToolPlace) throws(Failure) -> [ToolOverride] {
        guard let pattern = place.pattern else { return [] }
        let (own, registry) = (file(place), "\(registry(pattern))/")
        let others = place.projectFolders.map { "\($0)/.npmrc" } + ["\(place.settings)/pnpm/auth.ini"]
        return (others.filter { $0 != own } + [own]).flatMap { file in
            place.content(of: file).pieces(between: "\n").compactMap { line -> ToolOverride? in
                let (key, value) = line.cut(at: "=") ?? ("", "")
                guard let (uri, name) = key.trimmed(of: " \t\"").cut(atLast: ":"), uri.hasPrefix(registry),
                    ["_authToken", "_auth", "_password", "tokenHelper"].contains(String(name)),
                    uri != registry || file != own, !value.hasBytes("\(helpers(place))/")
                else { return nil }
                let shown = String(uri).displayable(limit: 200)
                return ToolOverride(
                    part: shown,
                    hint: "\(place.context.short(file)) has \(name) for \(shown), which comes first; remove it")
            }
        }
    }

    private static func helpers(_ place: ToolPlace) -> String { "\(place.data)/lanyard/token-helpers" }

    private static func file(_ place: ToolPlace) -> String {
        paths.lazy.compactMap { place.named($0, expandsHome: expandsHome) }.first ?? "\(place.home)/.npmrc"
    }

    static func remarks(_ place: ToolPlace) throws(Failure) -> [Hint] {
        guard let pattern = place.pattern, !pattern.isTokenPlace else { return [] }
        return ["no token is sent over http, only a password that is stored for the registry"]
    }

    /// Returns the registry as in npm's settings, without the slash at its end.
    private static func registry(_ pattern: URLPattern) -> String {
        let place = pattern.text.cut(at: ":")?.1 ?? pattern.text[...]
        return String(place.utf8.last == UInt8(ascii: "/") ? place.dropLast() : place)
    }

    /// Returns a separate file name for each URL, with no special characters for shells.
    private static func fileName(_ pattern: URLPattern) -> String {
        "\(pattern.host.name)-\(pattern.text.shortDigest.prefix(12))".replacing(bytes: ":", with: "-")
    }

    /// Throws if pnpm, or the shell that runs the program, would misread a path.
    private static func requirePlain(_ path: String) throws(Failure) {
        guard !path.utf8.allSatisfy({ $0.isAlphanumeric || "/._-".utf8.contains($0) }) else { return }
        throw Failure(
            "pnpm can't run a token helper at \(path.displayable(limit: 300))",
            hints: ["set XDG_DATA_HOME to a folder with letters, digits, dots, hyphens and underscores in its path"])
    }
}
