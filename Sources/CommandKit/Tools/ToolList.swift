import Addresses
package import Model
package import Rules
import Secrets
package import Terminal
package import Tools

/// Which tools are installed, and which of them use lanyard.
package struct ToolList {
    private let context: CommandContext
    private let entries: [RecordedChange]
    /// The reason why the record can't be read, so that only the tools' files count; nil if it can.
    package let fault: CommandError?

    package init(_ context: CommandContext) {
        self.context = context
        do throws(CommandError) {
            (entries, fault) = (try ToolRecord(context).entries(), nil)
        } catch {
            (entries, fault) = ([], error)
        }
    }

    /// Returns a line for each tool.
    package func lines() async -> [String] {
        let git = context.program("git") == nil ? "not installed" : "installed"
        var rows = [["git", git, await usesOfGit()]]
        for tool in ToolSetup.all {
            rows.append([
                tool.name, installation(of: tool),
                text(of: tool),
            ])
        }
        return Table(rows).wrapped(columns: Console.columns, indent: 0)
    }

    private func text(of tool: ToolSetup) -> String {
        let use = use(of: tool)
        guard let place = try? ToolTarget(context) else { return use.text() }
        return use.text(naming: tool.settings(place).name)
    }

    /// Returns whether a tool is installed, with the name of its program if that differs.
    private func installation(of tool: ToolSetup) -> String {
        guard let path = tool.installed(context) else { return "not installed" }
        let program = path.pieces(between: "/").last.map(String.init) ?? tool.name
        return program == tool.name ? "installed" : "\(program) installed"
    }

    /// Whether a tool asks lanyard, or something that lanyard wrote for it isn't undone.
    package func isUsed(by tool: ToolSetup) -> Bool {
        let use = use(of: tool)
        return use.isForAll || !use.places.isEmpty || entries.contains { $0.tool == tool.name }
            || !tool.unrecorded(entries, context).isEmpty
    }

    /// Returns how a tool uses lanyard.
    package func use(of tool: ToolSetup) -> ToolUse {
        let own = entries.filter { $0.tool == tool.name }
        let broken = own.filter { !$0.change.stands }
        // One place may need several files.
        let standing = own.filter { entry in
            !broken.contains { $0 == entry || $0.place != nil && $0.place == entry.place } && tool.reads(entry, context)
        }
        let settings = (try? ToolTarget(context)).map(tool.settings)
        let found = settings?.urlsFound ?? []
        return ToolUse(
            tool: tool, isForAll: tool.isConfigured(context, isRecorded: !standing.isEmpty),
            exception: settings.flatMap(tool.exception),
            places: Set(standing.compactMap(\.place) + found.map { $0.displayable(limit: 300) }).sorted())
    }

    /// Returns how a tool uses lanyard for the URL of a request.
    package func use(of tool: ToolSetup, at request: CredentialRequest) -> ToolUse {
        var use = use(of: tool)
        guard tool.url != .none, let host = request.host, let scheme = request.scheme else { return use }
        let url = "\(scheme)://\(host.urlText)"
        let changes = own(tool, url)
        let isNamed = use.places.contains { place in
            guard let pattern = URLPattern(place) else { return false }
            let mismatch = pattern.mismatch(request)
            return mismatch == nil || [.path, .pathCase].contains(mismatch) && tool.url == .optional
        }
        let stands = !changes.isEmpty && changes.allSatisfy(\.stands)
        use.here = ToolUse.Here(
            url: tool.url.isOne ? request.place ?? url : url, isAsked: isNamed || stands,
            other: stands ? nil : changes.compactMap { try? $0.setting.current() }.first)
        return use
    }

    /// Returns the changes that would make a tool ask lanyard for one URL; empty for a tool whose URLs have paths.
    private func own(_ tool: ToolSetup, _ url: String) -> [ToolChange] {
        guard tool.url == .optional, let pattern = URLPattern(url),
            let place = try? ToolTarget(context, tool.place(of: pattern))
        else { return [] }
        return (try? tool.settings(place).changes()) ?? []
    }

    private func usesOfGit() async -> String {
        guard let entries = try? await GitConfiguration(context).everything() else { return "doesn't use lanyard" }
        if GitHelpers(entries, for: nil).hasLanyard { return "uses lanyard" }
        let places = GitHelpers.lanyardPlaces(entries)
        return places.isEmpty
            ? "doesn't use lanyard" : "uses lanyard for \(places.joined(separator: ", ").displayable(limit: 500))"
    }
}

extension ToolSetup {
    /// Returns what makes the tool ask lanyard, everywhere or for one URL, although no entry of the record names it.
    package func unrecorded(
        _ entries: [RecordedChange], for pattern: URLPattern? = nil, _ context: CommandContext
    ) -> [ToolChange] {
        guard let home = (try? ToolTarget(context)).map(settings) else { return [] }
        let everywhere = (try? home.changes()) ?? []
        let patterns = pattern.map { [$0] } ?? home.urlsFound.compactMap { URLPattern($0) }
        var all = patterns.flatMap { (try? settings(ToolTarget(context, $0)).changes()) ?? [] }
        if pattern == nil, !url.isOne, !url.isHost,
            isConfigured(context, isRecorded: false)
                || everywhere.contains(where: { $0.stands && $0.namesLanyard })
        {
            all += everywhere
        }
        let recorded = Set(entries.map(\.change))
        return all.uniqued.filter { change in
            // The installation's own links, which go with it, are relative.
            let isInstalled = change.setting.format == .link && change.value?.hasPrefix("/") != true
            return change.value != nil && change.stands && !isInstalled && !recorded.contains(change)
        }
    }
}

/// Returns how a tool uses lanyard.
package struct ToolUse: Sendable {
    package let tool: ToolSetup
    /// Whether the tool asks lanyard for everything.
    package let isForAll: Bool
    /// The exception to `isForAll`, for users; nil if there is none.
    package let exception: String?
    /// The URLs for which the tool asks lanyard.
    package let places: [String]

    /// The use for one URL; nil if no URL is given, or if the tool can't distinguish URLs.
    package var here: Here?

    /// How a tool uses lanyard for one URL.
    package struct Here: Sendable {
        /// The URL for which to configure the tool.
        package let url: String
        /// Whether the tool asks lanyard for this URL in particular.
        let isAsked: Bool
        /// What the tool's settings name for the URL instead; nil if there is nothing.
        package let other: String?
    }

    /// Returns a description for users, perhaps with other names for the URLs.
    package func text(naming name: (String) -> String = { $0 }) -> String {
        if let here { return text(here) }
        if isForAll { return "uses lanyard" + (exception.map { ", but \($0)" } ?? "") }
        return places.isEmpty ? Self.none : "uses lanyard for \(places.map(name).joined(separator: ", "))"
    }

    private func text(_ here: Here) -> String {
        if let other = here.other { return "asks \(other.displayable(limit: 60)) here, not lanyard" }
        if here.isAsked || isForAll { return "uses lanyard" }
        return places.isEmpty ? Self.none : "uses lanyard for \(places.joined(separator: ", ")), but not here"
    }

    private static let none = "doesn't use lanyard"

    /// A hint to make the tool use lanyard; nil if it does.
    package var hint: Hint? {
        if let here {
            guard here.other != nil || !here.isAsked && !isForAll else { return nil }
            let isElsewhere = !places.isEmpty || here.other != nil
            // A host alone may be nothing that it can be configured for.
            let isPlace = URLPattern(here.url).flatMap { try? tool.place(of: $0) } != nil
            let url: ShellCommand = isPlace && (isElsewhere || tool.url.isOne) ? "\(last: here.url)" : ""
            return Hint(
                "\(tool.name) does not ask lanyard \(isElsewhere ? "here " : "")yet",
                run: "lanyard configure \(tool.name)\(url)")
        }
        guard !isForAll, places.isEmpty else { return nil }
        return Hint("\(tool.name) does not ask lanyard yet", run: "lanyard configure \(tool.name)")
    }
}
