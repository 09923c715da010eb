import Addresses
import Rules
import Terminal
import ToolTexts

/// How `configure` sets a tool up.
struct ToolSetup: Sendable {
    /// The tool's name on the command line.
    private(set) var name = ""
    /// All names by which the tool is known, its own first.
    private(set) var names: [String] = []
    /// What the command does, in one line without "Make", such as "Go use lanyard for modules".
    let purpose: String
    /// How the tool is configured, for the command's help.
    let discussion: String
    /// Whether the command takes a URL.
    var url = ToolURL.none
    /// The purpose of the command's example; nil for the usual one.
    var purposeOfExample: String?
    /// The URL of the example with the blank before it; empty for none.
    var exampleOfURL = ""
    /// The commands that show that the tool is installed; by default that of the tool's name.
    var programs: [String] = []
    /// Returns the oldest release of a program that goes by what lanyard writes; nil if it isn't known.
    var oldest: @Sendable (_ path: String) -> ToolVersion? = { _ in nil }
    /// The argument with which the tool prints its release.
    var versionArgument = "--version"
    /// Returns how to get a newer release than the program at a path.
    var newer: @Sendable (_ path: String) -> Hint = { _ in "install a newer one" }
    /// The lanyard program that the tool looks for on `PATH`; nil if the tool's settings name a program.
    var helper: String?
    /// The schemes of the tool's URLs, the usual one first.
    var schemes = ["https", "http"]
    /// Returns the pattern for a URL in the tool's settings, however the URL is written; throws if the tool doesn't support it.
    var place: (@Sendable (URLPattern) throws(Failure) -> URLPattern)?
    /// The variables with paths by which the tool finds the files that lanyard writes to.
    var paths: [String] = []
    /// Whether the tool replaces a `~` at the beginning of these paths.
    var expandsHome = false
    /// Returns the parts of a setting's value, old or new, that may be shown.
    var shown: @Sendable (_ value: String) -> [String] = { $0.rows }
    /// Returns the settings at a place.
    let settings: @Sendable (ToolPlace) -> any ToolSettings

    /// Returns it as that of a tool.
    func named(_ name: String, _ names: [String]) -> ToolSetup {
        var own = self
        (own.name, own.names) = (name, names)
        if programs.isEmpty { own.programs = [name] }
        return own
    }

    /// Those of all tools, in the order in which they are shown.
    static let all: [ToolSetup] = Tool.all.compactMap(\.setup)

    /// That of a tool, or the one that a tool of that name goes by.
    static func serving(_ name: String) -> ToolSetup? { all.first { $0.names.contains(name) } }
}

/// A tool's settings at a place: what they say, and what lanyard writes there.
protocol ToolSettings: Sendable {
    var place: ToolPlace { get }
    /// Throws if lanyard couldn't return anything for the place.
    func requireUse() throws(Failure)
    /// Returns the values that the tool's files need for the tool to ask lanyard.
    func changes() throws(Failure) -> [ToolChange]
    /// Throws if a file that changes are made to, or taken back from, isn't the tool's own.
    func requireOwn(_ files: [String]) throws(Failure)
    /// Returns the reason why nothing is written although the tool doesn't ask lanyard yet; nil if it does, or if
    /// something is written.
    func reasonForNothing() throws(Failure) -> Hint?
    /// Returns what the user has to know before the changes are made.
    func remarks() throws(Failure) -> [Hint]
    /// Returns the rules that the tool needs, according to its files before the changes.
    func rules() throws(Failure) -> [NeededRule]
    /// Returns what keeps the tool, once it is configured, from getting anything; by default the overrides that nobody
    /// chose.
    func faults() throws(Failure) -> [Hint]
    /// Returns what else the user has to know or do; by default the faults and the other overrides.
    func notes() throws(Failure) -> [Hint]
    /// Returns what the user has to know before changes are undone.
    func remarks(undoing entries: [ToolRecord.Entry]) -> [Hint]
    /// Returns the URLs for which the tool stops asking lanyard if changes are undone.
    func urls(undoing entries: [ToolRecord.Entry]) -> [String]
    /// The files in which the tool looks for what lanyard writes; by default those of the changes.
    var files: [String] { get throws(Failure) }
    /// Returns what the tool goes by first, before the values that lanyard writes, in the tool's order.
    func overrides() throws(Failure) -> [ToolOverride]
    /// The URLs for which the tool's files name lanyard, whoever wrote them.
    var urlsFound: [String] { get }
    /// Returns the name that the list shows for a URL.
    func name(ofURL url: String) -> String
}

extension ToolSettings {
    func requireUse() throws(Failure) {}
    func requireOwn(_ files: [String]) throws(Failure) {}
    func overrides() throws(Failure) -> [ToolOverride] { [] }
    var files: [String] {
        get throws(Failure) { try changes().map(\.setting).filter { !$0.format.isWholeFile }.map(\.file) }
    }
    func name(ofURL url: String) -> String { url }
    var urlsFound: [String] { [] }
    func urls(undoing entries: [ToolRecord.Entry]) -> [String] { entries.compactMap(\.place) }
    func remarks() throws(Failure) -> [Hint] { [] }
    func reasonForNothing() throws(Failure) -> Hint? { nil }
    func rules() throws(Failure) -> [NeededRule] { [] }
    func faults() throws(Failure) -> [Hint] {
        try overrides().filter { !$0.asksLanyard && !$0.isChoice }.map(\.hint)
    }
    func notes() throws(Failure) -> [Hint] { try faults() + choices() }
    /// Returns what somebody chose for a part, and what counts there before lanyard.
    func choices() throws(Failure) -> [Hint] {
        try overrides().filter { !$0.asksLanyard && $0.isChoice }.map(\.hint)
    }
    func remarks(undoing entries: [ToolRecord.Entry]) -> [Hint] { [] }
}
