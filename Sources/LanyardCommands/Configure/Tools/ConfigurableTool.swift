import Addresses
import ArgumentParser
import Files
import Rules
import Secrets
import SettingsFile
import Subprocess
import SystemPackage
import Terminal
import ToolTexts

/// A tool that can be configured to use lanyard.
protocol ConfigurableTool: Sendable {
    /// The tool's name on the command line.
    static var name: String { get }
    /// What the command does, in one line without "Make", such as "Go use lanyard for modules".
    static var purpose: String { get }
    /// How the tool is configured, for the command's help.
    static var discussion: String { get }
    /// Whether the command takes a URL.
    static var url: ToolURL { get }
    /// The purpose of the command's example.
    static var purposeOfExample: String { get }
    /// The URL of the example with the blank before it; empty for none.
    static var exampleOfURL: String { get }
    /// The commands that show that the tool is installed.
    static var programs: [String] { get }
    /// Returns the oldest release of one of the programs that goes by what lanyard writes; nil if it isn't known.
    static func oldest(_ path: String) -> ToolVersion?
    /// The argument with which the tool prints its release.
    static var versionArgument: String { get }
    /// Returns how to get a newer release than the program at a path.
    static func newer(than path: String) -> Hint
    /// Other tools that go by its settings.
    static var relatives: [String] { get }
    /// The lanyard program that the tool looks for on `PATH`; nil if the tool's settings name a program.
    static var helper: String? { get }
    /// The schemes of the tool's URLs, the usual one first.
    static var schemes: [String] { get }
    /// Returns the pattern for a URL in the tool's settings, however the URL is written.
    ///
    /// - Throws: `Failure` if the tool doesn't support the URL.
    static func place(of pattern: URLPattern) throws(Failure) -> URLPattern
    /// Throws if lanyard couldn't return anything for a place.
    static func requireUse(_ place: ToolPlace) throws(Failure)
    /// Returns the values that the tool's files need for the tool to ask lanyard.
    static func changes(_ place: ToolPlace) throws(Failure) -> [ToolChange]
    /// Throws if a file that changes are made to, or taken back from, isn't the tool's own.
    static func requireOwn(_ entries: [ToolRecord.Entry]) throws(Failure)
    /// Returns the reason why nothing is written although the tool doesn't ask lanyard yet; nil if it does, or if
    /// something is written.
    static func reasonForNothing(_ place: ToolPlace) throws(Failure) -> Hint?
    /// Returns what the user has to know before the changes are made.
    static func remarks(_ place: ToolPlace) throws(Failure) -> [Hint]
    /// Returns the rules that the tool needs, according to its files before the changes.
    static func rules(_ place: ToolPlace) throws(Failure) -> [NeededRule]
    /// Returns what keeps the tool, once it is configured for a place, from getting anything there; by default the
    /// overrides that nobody chose.
    static func faults(_ place: ToolPlace) throws(Failure) -> [Hint]
    /// Returns what else the user has to know or do; by default the faults and the other overrides.
    static func notes(_ place: ToolPlace) throws(Failure) -> [Hint]
    /// Returns what the user has to know before changes are undone.
    static func remarks(undoing entries: [ToolRecord.Entry]) -> [Hint]
    /// Returns the URLs for which the tool stops asking lanyard if changes are undone.
    static func urls(undoing entries: [ToolRecord.Entry], _ place: ToolPlace) -> [String]
    /// The variables with paths by which the tool finds the files that lanyard writes to.
    static var paths: [String] { get }
    /// Whether the tool replaces a `~` at the beginning of these paths.
    static var expandsHome: Bool { get }
    /// Returns the files in which the tool looks for what lanyard writes; by default those of the changes.
    static func files(_ place: ToolPlace) throws(Failure) -> [String]
    /// Returns what the tool goes by first, before the values that lanyard writes, in the tool's order.
    static func overrides(_ place: ToolPlace) throws(Failure) -> [ToolOverride]
    /// Returns the URLs for which the tool's files name lanyard, whoever wrote them.
    static func urlsFound(_ place: ToolPlace) -> [String]
    /// Returns the name that the list shows for a URL.
    static func name(ofURL url: String, _ place: ToolPlace) -> String
    /// Returns the parts of a setting's value, old or new, that may be shown.
    static func shown(_ value: String, of setting: ToolSetting) -> [String]
}

extension ConfigurableTool {
    static var helper: String? { nil }
    static var relatives: [String] { [] }
    static var purposeOfExample: String { "Make \(name) use lanyard" }
    static var exampleOfURL: String { "" }
    static var programs: [String] { [name] }
    static func oldest(_ path: String) -> ToolVersion? { nil }
    static var versionArgument: String { "--version" }
    static func newer(than path: String) -> Hint { "install a newer one" }
    static var schemes: [String] { ["https", "http"] }
    static func place(of pattern: URLPattern) throws(Failure) -> URLPattern { try pattern.withoutWildcard(for: name) }
    static func requireUse(_ place: ToolPlace) throws(Failure) {}
    static func requireOwn(_ entries: [ToolRecord.Entry]) throws(Failure) {}
    static var paths: [String] { [] }
    static var expandsHome: Bool { false }
    static func overrides(_ place: ToolPlace) throws(Failure) -> [ToolOverride] { [] }
    static func files(_ place: ToolPlace) throws(Failure) -> [String] {
        try changes(place).map(\.setting).filter { !$0.format.isWholeFile }.map(\.file)
    }
    static func name(ofURL url: String, _ place: ToolPlace) -> String { url }
    static func urlsFound(_ place: ToolPlace) -> [String] { [] }
    static func urls(undoing entries: [ToolRecord.Entry], _ place: ToolPlace) -> [String] {
        entries.compactMap(\.place)
    }
    static func remarks(_ place: ToolPlace) throws(Failure) -> [Hint] { [] }
    static func reasonForNothing(_ place: ToolPlace) throws(Failure) -> Hint? { nil }
    static func rules(_ place: ToolPlace) throws(Failure) -> [NeededRule] { [] }
    static func faults(_ place: ToolPlace) throws(Failure) -> [Hint] {
        try overrides(place).filter { !$0.asksLanyard && !$0.isChoice }.map(\.hint)
    }
    static func notes(_ place: ToolPlace) throws(Failure) -> [Hint] {
        try faults(place) + choices(place)
    }
    /// Returns what somebody chose for a part, and what counts there before lanyard.
    static func choices(_ place: ToolPlace) throws(Failure) -> [Hint] {
        try overrides(place).filter { !$0.asksLanyard && $0.isChoice }.map(\.hint)
    }
    static func remarks(undoing entries: [ToolRecord.Entry]) -> [Hint] { [] }
    static func shown(_ value: String, of setting: ToolSetting) -> [String] {
        value.rows
    }

    /// Returns the pattern for a typed URL, as it is in the tool's settings.
    static func pattern(_ url: String) throws(Failure) -> URLPattern {
        let pattern = try typed(url)
        guard schemes.contains(pattern.scheme) else {
            throw Failure(
                "\(name) accepts no \(pattern.scheme) URLs, only \(schemes.joined(separator: ", "))",
                hints: [Hint("write", write: pattern.text.with(scheme: schemes[0]).displayable(limit: 300))],
                status: .usage)
        }
        return try place(of: pattern)
    }

    private static func typed(_ url: String) throws(Failure) -> URLPattern {
        let example = exampleOfURL.isEmpty ? "https://registry.contoso.com" : exampleOfURL.trimmed(of: " \\\n")
        let shown = url.displayable(limit: 300)
        return try URLPattern(
            typed: url, example: url.hasPrefix("arn:") ? "https://sts.amazonaws.com/\(shown)" : String(example))
    }

    /// Returns a hint about the part of a URL that the tool ignores, so that it is configured for more; nil if there is
    /// none.
    static func leftOut(of url: String, for pattern: URLPattern) -> Hint? {
        guard let typed = try? URLPattern(typed: url), typed.host.name == pattern.host.name, !typed.isDockerHub
        else { return nil }
        let port = typed.host.port != nil && pattern.host.port == nil
        let path = typed.hasPath && !pattern.hasPath
        guard port || path else { return nil }
        let parts = [port ? "port" : nil, path ? "path" : nil].compactMap(\.self).joined(separator: " and ")
        return
            "\(name) ignores the \(parts), so this applies to all of \(pattern.host.urlText.displayable(limit: 200))"
    }
}

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

/// The tools, in the order in which they are shown.
enum Tools {
    static let all: [any ConfigurableTool.Type] = [
        DockerTool.self, PodmanTool.self, CargoTool.self, GoTool.self, BazelTool.self, PipTool.self, UvTool.self,
        KubectlTool.self, TerraformTool.self, PnpmTool.self, AWSTool.self, NuGetTool.self, SSHTool.self,
        ContainerTool.self,
    ]

    /// The tool of a name, or the one whose settings a tool of that name goes by.
    static func serving(_ name: String) -> (any ConfigurableTool.Type)? {
        all.first { $0.name == name || $0.relatives.contains(name) }
    }
}

extension ConfigurableTool {
    /// The command `lanyard configure TOOL`.
    static var configure: any ParsableCommand.Type { ConfigureToolCommand<Self>.self }

    /// The command `lanyard unconfigure TOOL`.
    static var unconfigure: any ParsableCommand.Type { UnconfigureToolCommand<Self>.self }

    /// Returns the path of the installed tool; nil if it isn't installed.
    static func installed(_ context: CommandContext) -> String? {
        programs.compactMap { context.program($0) }.first
    }

    /// Returns that the installed tool is too old for what lanyard writes, and the remedy; nil if it isn't, or doesn't say.
    ///
    /// It runs in `/`, where no project's files tell a tool which release to run, and downloads none.
    static func outdated(_ context: CommandContext) async -> Hint? {
        let variables: [Environment.Key: String?] = [
            "GOPROXY": "off", "RUSTUP_AUTO_INSTALL": "0", "DOTNET_CLI_TELEMETRY_OPTOUT": "1", "DOTNET_NOLOGO": "1",
            "DOTNET_SKIP_FIRST_TIME_EXPERIENCE": "1",
        ]
        guard let path = installed(context), let oldest = oldest(path),
            let printed = await Program.output(path, [versionArgument], with: variables, in: "/"),
            let version = ToolVersion(printed), version < oldest
        else { return nil }
        let newer = newer(than: path)
        let text = "\(name) \(version) can't ask lanyard, \(oldest) and later do; \(newer.text)"
        return newer.copied.map { Hint(text, write: $0) } ?? Hint(text)
    }

    /// Whether the tool asks lanyard for everything.
    ///
    /// lanyard's installation includes some of the links, whether or not the tool is installed. So a link alone counts
    /// only if the tool is installed, or if `isRecorded` says that lanyard was asked to make it.
    static func isConfigured(_ context: CommandContext, isRecorded: Bool) -> Bool {
        guard url != .required, !url.isHost, let place = try? ToolPlace(context) else { return false }
        let overrides = (try? overrides(place)) ?? []
        if let first = overrides.first(where: { $0.part == nil }) { return first.asksLanyard }
        guard let changes = try? changes(place) else { return false }
        let isMeant = isRecorded || changes.contains { $0.setting.format != .link } || installed(context) != nil
        return isMeant && !changes.isEmpty && changes.allSatisfy(\.stands)
    }

    /// Returns what the tool doesn't ask lanyard for although it asks for everything else; nil if there is nothing.
    static func exception(_ place: ToolPlace) -> String? {
        let parts = ((try? overrides(place)) ?? []).filter { !$0.asksLanyard }.compactMap(\.part).uniqued
        return parts.isEmpty ? nil : "not for \(parts.joined(separator: ", "))"
    }

    /// Whether the tool, run here, reads the file with a change; true if that can't be said.
    static func reads(_ entry: ToolRecord.Entry, _ context: CommandContext) -> Bool {
        let setting = entry.change.setting
        guard !url.isHost, !setting.format.isWholeFile,
            let files = try? files(ToolPlace(context, entry.place.flatMap(URLPattern.init)))
        else { return true }
        return files.contains(setting.file)
    }

    /// Returns hints about variables whose paths mean another file in each folder.
    static func relativePaths(_ context: CommandContext) -> [Hint] {
        paths.filter { variable in
            let paths = (context.variable(variable) ?? "").pieces(between: ":")
            return paths.contains { !$0.hasPrefix("/") && !(expandsHome && $0.hasPrefix("~")) }
        }.map { variable in
            let here = context.short(String.workingFolder ?? ".")
            return "\(variable) has a relative path, by which \(name) finds this file only in \(here)"
        }
    }
}
