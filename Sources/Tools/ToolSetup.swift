import Addresses
package import Rules
import Secrets
package import Terminal

/// How `configure` sets a tool up.
package struct ToolSetup: Sendable {
    /// The tool's name on the command line.
    package private(set) var name = ""
    /// All names by which the tool is known, its own first.
    private(set) var names: [String] = []
    /// What the command does, in one line without "Make", such as "Go use lanyard for modules".
    package let purpose: String
    /// How the tool is configured, for the command's help.
    package let discussion: String
    /// Whether the command takes a URL.
    package var url = ToolURL.none
    /// Returns the profile of a section of the tool's files; nil if they have no profiles, of which the command takes one.
    package var profile: (@Sendable (_ section: String) -> String?)?
    /// The purpose of the command's example; nil for the usual one.
    package var purposeOfExample: String?
    /// The URL of the example with the blank before it; empty for none.
    package var exampleOfURL = ""
    /// The commands that show that the tool is installed; by default that of the tool's name.
    package var programs: [String] = []
    /// Returns the oldest release of a program that goes by what lanyard writes; nil if it isn't known.
    package var oldest: @Sendable (_ path: String) -> ToolVersion? = { _ in nil }
    /// The argument with which the tool prints its release.
    package var versionArgument = "--version"
    /// Returns how to get a newer release than the program at a path.
    package var newer: @Sendable (_ path: String) -> Hint = { _ in "install a newer one" }
    /// The lanyard program that the tool looks for on `PATH`; nil if the tool's settings name a program.
    package var helper: String?
    /// The schemes of the tool's URLs, the usual one first.
    package var schemes = ["https", "http"]
    /// Returns the pattern for a URL in the tool's settings, however the URL is written; throws if the tool doesn't support it.
    package var place: (@Sendable (URLPattern) throws(CommandError) -> URLPattern)?
    /// The variables with paths by which the tool finds the files that lanyard writes to.
    package var paths: [String] = []
    /// Whether the tool replaces a `~` at the beginning of these paths.
    package var expandsHome = false
    /// Returns the parts of a setting's value, old or new, that may be shown.
    package var shown: @Sendable (_ value: String) -> [String] = { $0.rows }
    /// Returns the settings at a place.
    package let settings: @Sendable (ToolTarget) -> any ToolSettings

    /// Whether the command takes a profile.
    package var hasProfiles: Bool { profile != nil }

    /// Returns the profile that a setting is in; nil if it is in none.
    package func profile(of setting: ToolSetting) -> String? { setting.key.first.flatMap { profile?($0) } }

    /// Returns it as that of a tool.
    func named(_ name: String, _ names: [String]) -> ToolSetup {
        var own = self
        (own.name, own.names) = (name, names)
        if programs.isEmpty { own.programs = [name] }
        return own
    }

    /// Those of all tools, in the order in which they are shown.
    package static let all: [ToolSetup] = Tool.all.compactMap(\.setup)

    /// That of a tool, or the one that a tool of that name goes by.
    package static func serving(_ name: String) -> ToolSetup? { all.first { $0.names.contains(name) } }
}

/// A tool's settings at a place: what they say, and what lanyard writes there.
package protocol ToolSettings: Sendable {
    var place: ToolTarget { get }
    /// Returns the URLs that the tool's files imply, for tools that offer some.
    func offers() -> [ToolOffer]
    /// The profile that the user names to the tool, such as in a variable; nil if they name none.
    var namedProfile: String? { get }
    /// Returns the rule by which other tools sign in at a host as the tool's own settings have the user do; nil if they don't.
    func rule(for pattern: URLPattern) throws(CommandError) -> NeededRule?
    /// The authorities at which the tool's own settings have the user sign in.
    var authorities: [String] { get throws(CommandError) }
    /// Throws if lanyard couldn't return anything for the place.
    func requireUse() throws(CommandError)
    /// Returns the values that the tool's files need for the tool to ask lanyard.
    func changes() throws(CommandError) -> [ToolChange]
    /// Throws if a file that changes are made to, or taken back from, isn't the tool's own.
    func requireOwn(_ files: [String]) throws(CommandError)
    /// Returns the reason why nothing is written although the tool doesn't ask lanyard yet; nil if it does, or if
    /// something is written.
    func reasonForNothing() throws(CommandError) -> Hint?
    /// Returns what the user has to know before the changes are made.
    func remarks() throws(CommandError) -> [Hint]
    /// Returns the rules that the tool needs, according to its files before the changes.
    func rules() throws(CommandError) -> [NeededRule]
    /// Returns what keeps the tool, once it is configured, from getting anything; by default the overrides that nobody
    /// chose.
    func faults() throws(CommandError) -> [Hint]
    /// Returns what else the user has to know or do; by default the faults and the other overrides.
    func notes() throws(CommandError) -> [Hint]
    /// Returns what the user has to know before changes are undone.
    func remarks(undoing entries: [RecordedChange]) -> [Hint]
    /// Returns the URLs for which the tool stops asking lanyard if changes are undone.
    func urls(undoing entries: [RecordedChange]) -> [String]
    /// The files in which the tool looks for what lanyard writes; by default those of the changes.
    var files: [String] { get throws(CommandError) }
    /// Returns what the tool goes by first, before the values that lanyard writes, in the tool's order.
    func overrides() throws(CommandError) -> [ToolOverride]
    /// The URLs for which the tool's files name lanyard, whoever wrote them.
    var urlsFound: [String] { get }
    /// Returns the name that the list shows for a URL.
    func name(ofURL url: String) -> String
}

extension ToolSettings {
    func offers() -> [ToolOffer] { [] }
    var namedProfile: String? { nil }
    func rule(for pattern: URLPattern) throws(CommandError) -> NeededRule? { nil }
    var authorities: [String] { get throws(CommandError) { [] } }
    func requireUse() throws(CommandError) {}
    func requireOwn(_ files: [String]) throws(CommandError) {}
    func overrides() throws(CommandError) -> [ToolOverride] { [] }
    var files: [String] {
        get throws(CommandError) { try changes().map(\.setting).filter { !$0.format.isWholeFile }.map(\.file) }
    }
    func name(ofURL url: String) -> String { url }
    var urlsFound: [String] { [] }
    func urls(undoing entries: [RecordedChange]) -> [String] { entries.compactMap(\.place) }
    func remarks() throws(CommandError) -> [Hint] { [] }
    func reasonForNothing() throws(CommandError) -> Hint? { nil }
    func rules() throws(CommandError) -> [NeededRule] { [] }
    func faults() throws(CommandError) -> [Hint] {
        try overrides().filter { !$0.asksLanyard && !$0.isChoice }.map(\.hint)
    }
    func notes() throws(CommandError) -> [Hint] { try faults() + choices() }
    /// Returns what somebody chose for a part, and what counts there before lanyard.
    package func choices() throws(CommandError) -> [Hint] {
        try overrides().filter { !$0.asksLanyard && $0.isChoice }.map(\.hint)
    }
    func remarks(undoing entries: [RecordedChange]) -> [Hint] { [] }
}

/// A URL that a tool's files imply, and that the user may choose.
package struct ToolOffer: Sendable {
    /// The profile that implies it.
    package let profile: String
    /// What it gives, for users.
    package let summary: String
    package let url: String
}

/// A variable or a value in a file that a tool goes by before it goes by what lanyard writes.
package struct ToolOverride: Sendable {
    /// What it decides, such as a host; nil for everything.
    package var part: String?
    /// Whether it makes the tool ask lanyard.
    package var asksLanyard = false
    /// Whether somebody chose it for that part, so that it is no fault.
    var isChoice = false
    /// What to tell the user unless it makes the tool ask lanyard.
    let hint: Hint
}

extension ToolOverride {
    /// An override by a variable, which the user is told to unset.
    init(_ what: Message, unset variable: String, part: String? = nil, asksLanyard: Bool = false) {
        self.init(
            part: part, asksLanyard: asksLanyard, hint: Hint("\(what); unset it", run: "unset \(variable)"))
    }
}

/// A rule that a tool needs because of its former settings, with the arguments for `lanyard rule add`.
package struct NeededRule: Sendable {
    /// The tool or cluster that needs the rule, for users.
    package let subject: String
    /// The arguments of `lanyard rule add`.
    package let arguments: [String]
    /// The options for plugins without which the rule is of no use, as `lanyard config set` takes them.
    package var options: KeyValuePairs<String, String> = [:]

    package var command: ShellCommand { ShellCommand(words: ["lanyard", "rule", "add"] + arguments) }
}
