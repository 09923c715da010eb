import Addresses
import Files
package import Rules
import Secrets
import Subprocess
import SystemPackage
package import Terminal
package import Tools

extension ToolSetup {
    /// Returns the pattern for a typed URL, as it is in the tool's settings.
    package func pattern(_ url: String) throws(CommandError) -> URLPattern {
        let pattern = try typed(url)
        guard schemes.contains(pattern.scheme) else {
            throw CommandError(
                "\(name) accepts no \(pattern.scheme) URLs, only \(schemes.joined(separator: ", "))",
                hints: [Hint("write", write: pattern.text.with(scheme: schemes[0]).displayable(limit: 300))],
                status: .usage)
        }
        return try place(of: pattern)
    }

    private func typed(_ url: String) throws(CommandError) -> URLPattern {
        let example = exampleOfURL.isEmpty ? "https://registry.contoso.com" : exampleOfURL.trimmed(of: " \\\n")
        let shown = url.displayable(limit: 300)
        return try URLPattern(
            typed: url, example: url.hasPrefix("arn:") ? "https://sts.amazonaws.com/\(shown)" : String(example))
    }

    /// Returns a hint about the part of a URL that the tool ignores, so that it is configured for more; nil if there is
    /// none.
    package func leftOut(of url: String, for pattern: URLPattern) -> Hint? {
        guard let typed = try? URLPattern(typed: url), typed.host.name == pattern.host.name, !typed.isDockerHub
        else { return nil }
        let port = typed.host.port != nil && pattern.host.port == nil
        let path = typed.hasPath && !pattern.hasPath
        guard port || path else { return nil }
        let parts = [port ? "port" : nil, path ? "path" : nil].compactMap(\.self).joined(separator: " and ")
        return
            "\(name) ignores the \(parts), so this applies to all of \(pattern.host.urlText.displayable(limit: 200))"
    }

    /// Returns a pattern as it is in the tool's settings.
    package func place(of pattern: URLPattern) throws(CommandError) -> URLPattern {
        guard let place else { return try pattern.withoutWildcard(for: name) }
        return try place(pattern)
    }

    /// Returns the path of the installed tool; nil if it isn't installed.
    package func installed(_ context: CommandContext) -> String? {
        programs.compactMap { context.program($0) }.first
    }

    /// Returns that the installed tool is too old for what lanyard writes, and the remedy; nil if it isn't, or doesn't say.
    ///
    /// It runs in `/`, where no project's files tell a tool which release to run, and downloads none.
    package func outdated(_ context: CommandContext) async -> Hint? {
        let variables: [Environment.Key: String?] = [
            "GOPROXY": "off", "RUSTUP_AUTO_INSTALL": "0", "DOTNET_CLI_TELEMETRY_OPTOUT": "1", "DOTNET_NOLOGO": "1",
            "DOTNET_SKIP_FIRST_TIME_EXPERIENCE": "1",
        ]
        guard let path = installed(context), let oldest = oldest(path),
            let printed = await Program.output(path, [versionArgument], with: variables, in: "/"),
            let version = ToolVersion(printed), version < oldest
        else { return nil }
        let newer = newer(path)
        let text: Message = "\(name) \(version) can't ask lanyard, \(oldest) and later do; \(newer.text)"
        return newer.copied.map { Hint(text, write: $0) } ?? Hint(text)
    }

    /// Whether the tool asks lanyard for everything.
    ///
    /// lanyard's installation includes some of the links, whether or not the tool is installed. So a link alone counts
    /// only if the tool is installed, or if `isRecorded` says that lanyard was asked to make it.
    package func isConfigured(_ context: CommandContext, isRecorded: Bool) -> Bool {
        guard !url.isOne, !url.isHost, let settings = try? self.settings(ToolTarget(context)) else {
            return false
        }
        let overrides = (try? settings.overrides()) ?? []
        if let first = overrides.first(where: { $0.part == nil }) { return first.asksLanyard }
        guard let changes = try? settings.changes() else { return false }
        let isMeant = isRecorded || changes.contains { $0.setting.format != .link } || installed(context) != nil
        return isMeant && !changes.isEmpty && changes.allSatisfy(\.stands)
    }

    /// Returns what the tool doesn't ask lanyard for although it asks for everything else; nil if there is nothing.
    package func exception(_ settings: any ToolSettings) -> String? {
        let parts = ((try? settings.overrides()) ?? []).filter { !$0.asksLanyard }.compactMap(\.part).uniqued
        return parts.isEmpty ? nil : "not for \(parts.joined(separator: ", "))"
    }

    /// Whether the tool, run here, reads the file with a change; true if that can't be said.
    package func reads(_ entry: RecordedChange, _ context: CommandContext) -> Bool {
        let setting = entry.change.setting
        guard !url.isHost, !setting.format.isWholeFile,
            let files = try? settings(ToolTarget(context, entry.place.flatMap(URLPattern.init))).files
        else { return true }
        return files.contains(setting.file)
    }

    /// Returns hints about variables whose paths mean another file in each folder.
    package func relativePaths(_ context: CommandContext) -> [Hint] {
        paths.filter { variable in
            let paths = (context.variable(variable) ?? "").pieces(between: ":")
            return paths.contains { !$0.hasPrefix("/") && !(expandsHome && $0.hasPrefix("~")) }
        }.map { variable in
            let here = context.short(String.workingFolder ?? ".")
            return "\(variable) has a relative path, by which \(name) finds this file only in \(here)"
        }
    }
}
