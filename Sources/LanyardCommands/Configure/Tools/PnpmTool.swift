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

    static func changes(_ place: ToolPlace) throws(Failure) -> [ToolChange] {
        guard let pattern = place.pattern else { return [] }
        let helper = "\(place.data)/lanyard/token-helpers/\(fileName(pattern))"
        try requirePlain(helper)
        let command: ShellCommand = "exec \(place.program("lanyard")) pnpm \(pattern.text, limit: 4000)"
        let file = place.context.variable("NPM_CONFIG_USERCONFIG") ?? "\(place.home)/.npmrc"
        return [
            ToolChange(.script, in: helper, to: "#!/bin/sh\n\(command.text)\n"),
            ToolChange(.lines, ["\(registry(pattern))/:tokenHelper"], in: file, to: helper),
        ]
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
