import Addresses
import Files
package import Model
package import Rules
import Secrets
import SettingsFile
package import Terminal

extension URLPattern {
    /// Returns the pattern with nothing but its scheme and host, with or without the port.
    func hostAlone(withPort: Bool = true) -> URLPattern {
        URLPattern("\(scheme)://\(withPort ? host.urlText : host.name)") ?? self
    }

    /// Returns the pattern, unless its host has wildcards, which most tools don't support.
    package func withoutWildcard(for tool: String) throws(CommandError) -> URLPattern {
        guard hasWildcard else { return self }
        throw CommandError("\(tool) doesn't support wildcards in hosts", hints: ["name one host"], status: .usage)
    }
}

/// Whether a tool can be configured for one URL only.
package enum ToolURL: Sendable, Equatable {
    /// For all URLs only.
    case none
    /// For one URL or for all.
    case optional
    /// For one URL only.
    case required
    /// For one URL only; without one, the user chooses among those that the tool's files imply.
    case offered
    /// It takes a host instead: what that is, for an error and for its help.
    case host(String, help: String)

    /// Whether each configuration is for one URL.
    package var isOne: Bool { self == .required || self == .offered }
    package var isHost: Bool { if case .host = self { true } else { false } }
}

/// What tools' settings depend on besides the tools' own files; they can neither reach a keyring nor a plugin.
package protocol ToolSurroundings: Sendable {
    var environment: [String: String] { get }
    /// The real path of the running program.
    var executable: String { get }
    /// The configuration, read anew.
    func configuration() throws(CommandError) -> Configuration
    /// Returns what a URL's rule, or else a plugin, wants; nil if nothing maps it.
    func resolve(_ request: CredentialRequest) throws(CommandError) -> TokenRequest?
    /// Returns the authority that a tenant in one of Azure's clouds stands for; nil if no plugin knows it.
    func authority(ofTenant tenant: String, cloud: String?) -> String?
    /// Returns the application that signs users in for a resource's tokens; nil if no plugin knows one.
    func client(ofResource resource: String) -> String?
    /// Returns the changes that `configure` has made and nobody has undone.
    func recordedChanges() throws(CommandError) -> [RecordedChange]
    /// The folder of the agent's sockets; nil if there is none.
    var agentFolder: String? { get }
    /// Returns a variable's value; nil if it is unset or empty.
    func variable(_ name: String) -> String?
    /// Returns a variable's value as git would read a boolean; nil if it is unset or not a boolean.
    func boolean(_ name: String) -> Bool?
    /// Returns the path of a program on `PATH`; nil if there is none.
    func program(_ name: String) -> String?
    /// Returns the path of an installed program of lanyard's; nil if it isn't installed.
    func installed(_ program: String) -> String?
    /// Returns a digest of a text, for a name that nothing else has.
    func digest(of text: String) -> String
    /// Whether a path exists.
    func isFile(_ path: String) -> Bool
    /// Returns a path for users, with `~` for the home folder.
    func short(_ path: String) -> String
}

/// The place where a tool is configured: the user's home, for one URL or all.
package struct ToolTarget: Sendable {
    package let context: any ToolSurroundings
    /// The URL's pattern; nil for every URL.
    package let pattern: URLPattern?
    /// The profile in the tool's files; nil for the one that the tool itself would take.
    package let profile: String?
    package let home: String

    /// - Throws: `CommandError` if there is no home folder.
    package init(
        _ context: any ToolSurroundings, _ pattern: URLPattern? = nil, profile: String? = nil
    ) throws(CommandError) {
        guard let home = context.environment.absolutePath("HOME") else {
            throw CommandError("HOME names no folder, so there is no place for a tool's settings", hints: ["set HOME"])
        }
        self.context = context
        self.pattern = pattern
        self.profile = profile
        self.home = home
    }

    /// The folder for programs' data.
    var data: String { context.environment.absolutePath("XDG_DATA_HOME") ?? "\(home)/.local/share" }

    /// The folder for programs' settings.
    package var settings: String { context.environment.configHome ?? "\(home)/.config" }

    /// Returns the content of a tool's file; nil if it doesn't exist.
    ///
    /// - Throws: `CommandError` if it can't be read.
    package static func text(of file: String) throws(CommandError) -> String? {
        do throws(SettingsError) { return try SettingsText(reading: file).text } catch { throw CommandError(error) }
    }

    /// Returns a lanyard program as a tool can run it: its name if it is on `PATH`, else the path of the one beside
    /// this program.
    func program(_ name: String) -> String {
        if context.program(name) != nil { return name }
        return context.installed(name) ?? name
    }

    /// Returns the same as one word of a command, as the tool that reads it wants it: unchanged if it has only letters, digits and
    /// `/._-+@`.
    ///
    /// - Throws: `CommandError` if the tool has no way to write it.
    func word(_ name: String, for tool: String, quote: (String) -> String?) throws(CommandError) -> String {
        let program = program(name)
        if program.utf8.allSatisfy({ $0.isAlphanumeric || "/._-+@".utf8.contains($0) }) { return program }
        if !program.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }), let word = quote(program) { return word }
        let folder: ShellCommand = "export PATH=\(FileTrust.parent(of: program)):\"$PATH\""
        throw CommandError(
            "\(tool) can't run a program at \(program)",
            hints: [Hint("put its folder on PATH, where \(tool) runs, too", run: folder)])
    }

    /// A link to a program of lanyard's, unless there is one already, which was made on purpose.
    func link(_ file: String, to program: String) throws(CommandError) -> ToolChange {
        let link = ToolSetting(.link, in: file)
        return ToolChange(
            setting: link, value: try link.current() ?? context.installed(program) ?? context.executable)
    }

    /// The text of the pattern.
    package var url: String? { pattern?.text }
}

extension ToolTarget {
    /// Returns the absolute path in a variable, as a tool takes it that doesn't ignore relative ones; nil if it is unset.
    ///
    /// `expandsHome` says whether the tool replaces a `~` at the beginning.
    func named(_ variable: String, expandsHome: Bool = false) -> String? {
        context.variable(variable).map { absolute($0, expandsHome: expandsHome) }
    }

    /// Returns the path in a variable, or else a path below the home folder.
    func path(_ variable: String, else below: String, expandsHome: Bool = false) -> String {
        named(variable, expandsHome: expandsHome) ?? "\(home)/\(below)"
    }

    private func absolute(_ path: String, expandsHome: Bool) -> String {
        expandsHome && (path == "~" || path.hasPrefix("~/")) ? home + path.dropFirst() : path.absolutePath
    }

    /// The working folder and those above it, the nearest first: a project's files are in one of them.
    var projectFolders: [String] {
        var rest = String.workingFolder?[...] ?? ""
        var folders: [String] = []
        while let (parent, _) = rest.cut(atLast: "/") {
            folders.append(String(rest))
            rest = parent
        }
        return folders
    }

    /// The text of a file that isn't changed; empty if it can't be read.
    func content(of file: String) -> String { (try? SettingsText(reading: file).text) ?? "" }

    /// The hosts of rules for which netrc has a password.
    ///
    /// pip, uv and Go send that before they ask lanyard.
    var overridesOfNetrc: [ToolOverride] {
        let file = path("NETRC", else: ".netrc")
        let words = content(of: file).pieces(between: "\n").filter { !$0.hasPrefix("#") }
            .flatMap { $0.pieces(between: " ").flatMap { $0.pieces(between: "\t") } }.map { $0.trimmed(of: "\r") }
        let hosts = zip(words, words.dropFirst()).filter { $0.0 == "machine" }.map { String($0.1) }
        guard !hosts.isEmpty, let rules = try? context.configuration().rules else { return [] }
        return hosts.uniqued.filter { host in rules.contains { $0.pattern.host.name == host } }.map { host in
            let host = host.displayable(limit: 200)
            return ToolOverride(
                part: host, hint: "\(context.short(file)) has a password for \(host), which comes first; remove it")
        }
    }
}

extension CommandError {
    /// The error if a file can't be read because libyaml isn't installed.
    package static func withoutYAML(_ file: String) -> CommandError {
        CommandError(
            "libyaml, which reads \(file), is not installed",
            hints: [Hint("sudo apt install libyaml-0-2, sudo dnf install libyaml, or sudo pacman -S libyaml")])
    }
}
