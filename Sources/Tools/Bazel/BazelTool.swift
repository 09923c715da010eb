import Addresses
import Files
import JSON
import Model
import Rules
import Secrets
import SettingsFile
import Terminal

extension Tool {
    static let bazel = Tool(
        "bazel", aliases: ["bazelisk"], .link("bazel-credential-lanyard"), { BazelProtocol($0.arguments) },
        setup: ToolSetup(
            purpose: "Bazel use lanyard as a credential helper",
            discussion: """
                Adds a line to `~/.bazelrc`, for every host or for a URL's; `*.contoso.com` means all hosts below contoso.com. It needs Bazel 7 or later.
                """,
            url: .optional, programs: ["bazel", "bazelisk"],
            // bazelisk would download what it runs, which is usually the newest.
            oldest: { FileTrust.realPath($0)?.hasBytes("bazelisk") == false ? ToolVersion(7) : nil },
            newer: { _ in "install a newer one: https://bazel.build/install" },
            schemes: ["https", "http", "grpcs", "grpc"], place: BazelSettings.place(of:), settings: BazelSettings.init))
}

/// Bazel: lanyard is an option in its startup file.
struct BazelSettings: ToolSettings {
    let place: ToolTarget

    /// Returns the pattern of a host, or of all below one.
    @Sendable static func place(of pattern: URLPattern) throws(CommandError) -> URLPattern {
        let name = pattern.host.name
        guard name.hasPrefix("*."), !name.dropFirst().hasBytes("*") else {
            return try pattern.withoutWildcard(for: "bazel, except for *. at the beginning,").hostAlone(withPort: false)
        }
        return pattern.hostAlone(withPort: false)
    }

    var files: [String] { [home] }

    var urlsFound: [String] {
        helpers.filter { $0.isLanyard && !$0.scope.isEmpty }.map { "https://\($0.scope)" }
    }

    /// A program that a startup file names.
    private struct Helper {
        let file: String
        /// The command that the line is for; nil for all.
        let command: String?
        /// The host; empty for all.
        let scope: String
        let program: String

        var isLanyard: Bool { program.pieces(between: "/").last == "bazel-credential-lanyard" }
        var shown: String { program.displayable(limit: 100) }
    }

    private var home: String { "\(place.home)/.bazelrc" }

    /// Returns the startup files in Bazel's order, the last of which counts.
    private var startupFiles: [String] {
        let marks = ["MODULE.bazel", "WORKSPACE", "WORKSPACE.bazel", "REPO.bazel"]
        let workspace = place.projectFolders.first { folder in
            marks.contains { place.context.isFile("\(folder)/\($0)") }
        }
        let named = (place.context.variable("BAZELRC") ?? "").pieces(between: ",").map { String($0).absolutePath }
        let all = ["/etc/bazel.bazelrc"] + [workspace.map { "\($0)/.bazelrc" }].compactMap(\.self) + [home]
        return all.uniqued + named
    }

    /// Returns the programs in the startup files, in their order.
    private var helpers: [Helper] {
        startupFiles.flatMap { file -> [Helper] in
            let text = place.content(of: file).replacing(bytes: "\\\n", with: " ")
            return text.pieces(between: "\n").flatMap { line -> [Helper] in
                let words = ShellWords.split(String(line)) ?? line.pieces(between: " ").map(String.init)
                // What is behind a colon counts only with --config.
                guard let command = words.first, !command.hasPrefix("#"), !command.hasBytes(":") else {
                    return []
                }
                return words.indices.compactMap { index -> Helper? in
                    let (option, value) =
                        words[index].cut(at: "=") ?? (words[index][...], (words + [""])[index + 1][...])
                    guard ["--credential_helper", "--experimental_credential_helper"].contains(String(option))
                    else { return nil }
                    let (scope, program) = value.cut(at: "=") ?? ("", value)
                    return Helper(
                        file: file,
                        command: "common always".pieces(between: " ").contains(command[...]) ? nil : command,
                        scope: String(scope), program: String(program))
                }
            }
        }
    }

    /// Of several helpers for the same hosts, the one of a command's own lines counts, and of these the last; one for a
    /// host comes before one for all.
    func overrides() throws(CommandError) -> [ToolOverride] {
        let scope = place.pattern?.host.name ?? ""
        let helpers = self.helpers
        let general = helpers.indices.filter { helpers[$0].command == nil && helpers[$0].scope == scope }
        let own = general.last { helpers[$0].isLanyard } ?? helpers.lastIndex { $0.file == home } ?? -1
        var overrides: [ToolOverride] = []
        for (index, helper) in helpers.enumerated() where !helper.isLanyard {
            let file = place.context.short(helper.file)
            if helper.scope == scope, helper.command != nil || index > own {
                let part = helper.command.map { "bazel \($0.displayable(limit: 60))" }
                let what: Message =
                    "\(helper.shown) is in \(file)\(part.map { " for \($0)" } ?? ""), which comes first; remove it there"
                overrides.append(ToolOverride(part: part, hint: Hint(what)))
            } else if scope.isEmpty, !helper.scope.isEmpty {
                let part = helper.scope.displayable(limit: 200)
                let hint: Hint = "\(helper.shown) is still asked for \(part), which \(file) says"
                overrides.append(ToolOverride(part: part, isChoice: true, hint: hint))
            }
        }
        // The other commands that ask for credentials take most of their options from build's lines.
        let build = helpers.last { $0.command == "build" && $0.scope == scope }
        if scope.isEmpty, (general.last.map { helpers[$0] } ?? build)?.isLanyard == true {
            overrides.append(ToolOverride(asksLanyard: true, hint: ""))
        }
        return overrides
    }

    /// Returns a hint if lanyard overrides another program; of several lines for the same hosts, Bazel uses the last.
    func remarks() throws(CommandError) -> [Hint] {
        let scope = place.pattern?.host.name ?? ""
        let own = helpers.last { $0.file == home && $0.command == nil && $0.scope == scope }
        guard let other = own, !other.isLanyard else { return [] }
        let what = scope.isEmpty ? "every host" : scope.displayable(limit: 200)
        return ["\(other.shown) is in ~/.bazelrc for \(what); lanyard replaces it"]
    }

    func changes() throws(CommandError) -> [ToolChange] {
        let scope = place.pattern.map { "\($0.host.name)=" } ?? ""
        let program = try place.word("bazel-credential-lanyard", for: "bazel") { program in
            // Bazel takes what is before `=` for a host, and what is between `%` for a variable.
            program.utf8.contains { "=%\"\\".utf8.contains($0) } ? nil : program
        }
        let option = "--credential_helper=\(scope)\(program)"
        let isPlain = option.utf8.allSatisfy { $0.isAlphanumeric || "/._-+@=*".utf8.contains($0) }
        let line = "common \(isPlain ? option : "\"\(option)\"")"
        return [ToolChange(.line, [line], in: home, to: line)]
    }
}

/// The protocol of Bazel and others that follow EngFlow's credential helper specification (BuildStream, buildbarn, …):
/// one URI on stdin, its headers on stdout.
public struct BazelProtocol: ToolProtocol {
    /// Bazel's default for `--credential_helper_timeout`.
    public static var timeLimit: Int? { 10 }

    private let arguments: [String]
    private var input = ToolInput()

    /// Creates a tool for Bazel's arguments: `get`.
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
    public mutating func receive(_ event: ToolEvent) -> Turn {
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
        do throws(ProtocolError) {
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
