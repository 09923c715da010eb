import Addresses
import Rules
import Secrets
import SettingsFile
import Terminal
import ToolTexts

/// A variable or a value in a file that a tool goes by before it goes by what lanyard writes.
struct ToolOverride: Sendable {
    /// What it decides, such as a host; nil for everything.
    var part: String?
    /// Whether it makes the tool ask lanyard.
    var asksLanyard = false
    /// Whether somebody chose it for that part, so that it is no fault.
    var isChoice = false
    /// What to tell the user unless it makes the tool ask lanyard.
    let hint: Hint
}

extension ToolOverride {
    /// An override by a variable, which the user is told to unset.
    init(_ what: String, unset variable: String, part: String? = nil, asksLanyard: Bool = false) {
        self.init(
            part: part, asksLanyard: asksLanyard, hint: Hint("\(what); unset it", run: "unset \(variable)"))
    }
}

extension ToolPlace {
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
        guard !hosts.isEmpty, let rules = try? Session(context).configuration.rules else { return [] }
        return hosts.uniqued.filter { host in rules.contains { $0.pattern.host.name == host } }.map { host in
            let host = host.displayable(limit: 200)
            return ToolOverride(
                part: host, hint: "\(context.short(file)) has a password for \(host), which comes first; remove it")
        }
    }
}
