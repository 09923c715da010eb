import Addresses
import Rules
import Secrets
import SettingsFile
import Terminal
import ToolTexts

/// Bazel: lanyard is an option in its startup file.
enum BazelTool: ConfigurableTool {
    static let name = "bazel"
    static let purpose = "Bazel use lanyard as a credential helper"
    static let discussion = """
        Adds a line to `~/.bazelrc`, for every host or for a URL's; `*.contoso.com` means all hosts below contoso.com. It needs Bazel 7 or later.
        """
    static let url = ToolURL.optional
    static let relatives = ["bazelisk"]
    static let schemes = ["https", "http", "grpcs", "grpc"]
    static let programs = ["bazel", "bazelisk"]

    static func place(of pattern: URLPattern) throws(Failure) -> URLPattern {
        let name = pattern.host.name
        guard name.hasPrefix("*."), !name.dropFirst().hasBytes("*") else {
            return try pattern.withoutWildcard(for: "bazel, except for *. at the beginning,").hostAlone(withPort: false)
        }
        return pattern.hostAlone(withPort: false)
    }

    static func override(_ place: ToolPlace) -> Bool? { scopes(place).contains("") ? true : nil }

    static func urlsFound(_ place: ToolPlace) -> [String] {
        scopes(place).filter { !$0.isEmpty }.map { "https://\($0)" }
    }

    /// Returns the hosts for which the startup file names lanyard; an empty one stands for all.
    private static func scopes(_ place: ToolPlace) -> [String] {
        helpers(place).filter { isLanyard($0.program) }.map(\.scope)
    }

    private static func isLanyard(_ program: String) -> Bool {
        program.pieces(between: "/").last == "bazel-credential-lanyard"
    }

    /// Returns the programs in the startup file, with their hosts.
    private static func helpers(_ place: ToolPlace) -> [(scope: String, program: String)] {
        let text = (try? SettingsText(reading: "\(place.home)/.bazelrc"))?.text ?? ""
        let words = text.pieces(between: "\n").map { $0.trimmed(of: " \t\r") }.filter { !$0.hasPrefix("#") }
            .flatMap { line in ShellWords.split(String(line)) ?? line.pieces(between: " ").map(String.init) }
        return words.compactMap { word in
            guard let (option, value) = word.cut(at: "="),
                ["--credential_helper", "--experimental_credential_helper"].contains(String(option))
            else { return nil }
            let (scope, program) = value.cut(at: "=") ?? ("", value)
            return (String(scope), String(program))
        }
    }

    /// Returns a hint if lanyard overrides another program; of several lines for the same hosts, Bazel uses the last.
    static func remarks(_ place: ToolPlace) throws(Failure) -> [Hint] {
        let scope = place.pattern?.host.name ?? ""
        guard let other = helpers(place).last(where: { $0.scope == scope })?.program, !isLanyard(other)
        else { return [] }
        let what = scope.isEmpty ? "every host" : scope.displayable(limit: 200)
        return ["\(other.displayable(limit: 100)) is in ~/.bazelrc for \(what); lanyard replaces it"]
    }

    static func changes(_ place: ToolPlace) throws(Failure) -> [ToolChange] {
        let scope = place.pattern.map { "\($0.host.name)=" } ?? ""
        let program = try place.word("bazel-credential-lanyard", for: "bazel") { program in
            // Bazel takes what is before `=` for a host, and what is between `%` for a variable.
            program.utf8.contains { "=%\"\\".utf8.contains($0) } ? nil : program
        }
        let option = "--credential_helper=\(scope)\(program)"
        let isPlain = option.utf8.allSatisfy { $0.isAlphanumeric || "/._-+@=*".utf8.contains($0) }
        let line = "common \(isPlain ? option : "\"\(option)\"")"
        return [ToolChange(.line, [line], in: "\(place.home)/.bazelrc", to: line)]
    }
}
