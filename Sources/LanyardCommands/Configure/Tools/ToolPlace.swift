import Addresses
import Files
import Rules
import Secrets
import SettingsFile
import Terminal
import ToolTexts

extension URLPattern {
    /// Returns the pattern with nothing but its scheme and host, with or without the port.
    func hostAlone(withPort: Bool = true) -> URLPattern {
        URLPattern("\(scheme)://\(withPort ? host.urlText : host.name)") ?? self
    }

    /// Returns the pattern, unless its host has wildcards, which most tools don't support.
    func withoutWildcard(for tool: String) throws(Failure) -> URLPattern {
        guard host.name.hasBytes("*") else { return self }
        throw Failure("\(tool) doesn't support wildcards in hosts", hints: ["name one host"], status: .usage)
    }
}

/// Whether a tool can be configured for one URL only.
enum ToolURL: Sendable, Equatable {
    /// For all URLs only.
    case none
    /// For one URL or for all.
    case optional
    /// For one URL only.
    case required
    /// It takes a host instead: what that is, for an error and for its help.
    case host(String, help: String)

    var isHost: Bool { if case .host = self { true } else { false } }
}

/// The place where a tool is configured: the user's home, for one URL or all.
struct ToolPlace: Sendable {
    let context: CommandContext
    /// The URL's pattern; nil for every URL.
    let pattern: URLPattern?
    let home: String

    /// - Throws: `Failure` if there is no home folder.
    init(_ context: CommandContext, _ pattern: URLPattern? = nil) throws(Failure) {
        guard let home = context.environment.absolutePath("HOME") else {
            throw Failure("HOME names no folder, so there is no place for a tool's settings", hints: ["set HOME"])
        }
        self.context = context
        self.pattern = pattern
        self.home = home
    }

    /// The folder for programs' data.
    var data: String { context.environment.absolutePath("XDG_DATA_HOME") ?? "\(home)/.local/share" }

    /// The folder for programs' settings.
    var settings: String { context.environment.configHome ?? "\(home)/.config" }

    /// Returns the content of a tool's file; nil if it doesn't exist.
    ///
    /// - Throws: `Failure` if it can't be read.
    static func text(of file: String) throws(Failure) -> String? {
        do throws(SettingsError) { return try SettingsText(reading: file).text } catch { throw Failure(error) }
    }

    /// Returns a lanyard program as a tool can run it: its name if it is on `PATH`, else the path of the one beside
    /// this program.
    func program(_ name: String) -> String {
        if context.program(name) != nil { return name }
        return InstalledFiles(context).program(name) ?? name
    }

    /// Returns the same as one word of a command, as the tool that reads it wants it: unchanged if it has only letters, digits and
    /// `/._-+@`.
    ///
    /// - Throws: `Failure` if the tool has no way to write it.
    func word(_ name: String, for tool: String, quote: (String) -> String?) throws(Failure) -> String {
        let program = program(name)
        if program.utf8.allSatisfy({ $0.isAlphanumeric || "/._-+@".utf8.contains($0) }) { return program }
        if !program.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }), let word = quote(program) { return word }
        let folder: ShellCommand = "export PATH=\(FileTrust.parent(of: program)):\"$PATH\""
        throw Failure(
            "\(tool) can't run a program at \(program.displayable(limit: 300))",
            hints: [Hint("put its folder on PATH, where \(tool) runs, too", run: folder)])
    }

    /// A link to a program of lanyard's, unless there is one already, which was made on purpose.
    func link(_ file: String, to program: String) throws(Failure) -> ToolChange {
        let link = ToolSetting(.link, in: file)
        return ToolChange(
            setting: link, value: try link.current() ?? InstalledFiles(context).program(program) ?? context.executable)
    }

    /// The text of the pattern.
    var url: String? { pattern?.text }
}
