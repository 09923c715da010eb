import Addresses
import CommandKit
import CredentialEngine
import Model
import PluginHost
import Rules
import Secrets
import Terminal
import Tools

extension Examination {
    /// Checks git and its configuration, as they are outside any repository.
    func gitFindings() async -> [Finding] {
        do throws(CommandError) {
            let version = try await Git(context: context).version()
            guard version >= Git.oldest else {
                return [.fail("git", "\(version) is too old, 2.8 is needed", Package.git.hint())]
            }
            let entries = try await GitConfiguration(context).everything()
            return [program(version), await helpers(entries, version)] + (await paths(entries)) + interaction(entries)
        } catch {
            return [.fail("git", error)]
        }
    }

    private func program(_ version: ToolVersion) -> Finding {
        let how = version.takesTokens ? "supports tokens" : "sends tokens as passwords, which Azure DevOps accepts"
        guard version < ToolVersion(2, 41) else { return .pass("git", "\(version); \(how)") }
        guard let host = hostOfUnknownTenant else {
            let missed = "git before 2.41 hides server challenges, so claims requests are missed"
            return .pass("git", "\(version); \(how); \(missed)")
        }
        return .warn(
            "git", "\(version); git before 2.41 hides server challenges, which name the tenant at \(host)",
            "install git 2.41 or later",
            Hint(
                "or name the tenant in \(context.short(context.userFile))",
                write: "authority = \"\(Example.authorityToFill)\""))
    }

    /// A host whose server names the tenant if the configuration leaves it open; nil if it doesn't.
    private var hostOfUnknownTenant: String? {
        guard configuration.mapsKnownHosts, let authority = configuration.authority,
            let match = registry.match(authority: authority, isConfigured: true),
            match.sharedRealm?.narrows == true
        else { return nil }
        return registry.gitHosts.first
    }

    private func helpers(_ entries: [GitConfiguration.Entry], _ version: ToolVersion) async -> Finding {
        let name = "git.helpers"
        let everywhere = GitHelpers(entries, for: nil)
        if let leak = leak(entries, version, everywhere) { return leak }
        let places = GitHelpers.lanyardPlaces(entries)
        guard everywhere.hasLanyard || !places.isEmpty else {
            return .warn(name, "git does not ask lanyard", Hint(run: "lanyard configure git"))
        }
        for place in [nil] + places {
            guard let missing = await GitHelpers.missing(entries, at: place, context) else { continue }
            let place: Message = missing.place.map { " for \($0)" } ?? ""
            return .fail(
                name, "git can't find \(missing.program), the helper to run\(place)", Hint(run: missing.remedy))
        }
        guard everywhere.hasLanyard, let first = everywhere.beforeLanyard.first else {
            let text = everywhere.hasLanyard ? everywhere.names : "lanyard for \(places.joined(separator: ", "))"
            return exception(entries, everywhere, places) ?? .pass(name, "git asks \(text)")
        }
        let text = "git asks \(everywhere.names)"
        return .warn(
            name, "\(text); \(first.name) answers first if it can", Hint(run: "lanyard configure git --only"),
            Hint("or for one host", run: "lanyard configure git URL --only"))
    }

    /// Returns a finding if git passes a token from lanyard to another helper that may store it, perhaps in a file.
    private func leak(
        _ entries: [GitConfiguration.Entry], _ version: ToolVersion, _ everywhere: GitHelpers
    ) -> Finding? {
        let leaks = tokenPlaces(entries).compactMap { place -> (place: String, keeper: GitHelpers.Helper)? in
            guard let request = try? CredentialRequest(url: place) else { return nil }
            return GitHelpers(entries, for: request).keepers(version).first.map { (place, $0) }
        }
        guard let first = leaks.first else { return nil }
        let isEverywhere = !everywhere.keepers(version).isEmpty
        let more = leaks.count > 1 ? ", and \(leaks.count - 1) more" : ""
        return .fail(
            "git.helpers",
            "git \(version) also passes tokens to \(first.keeper.name), which may keep them: for \(first.place)\(more)",
            Hint(run: isEverywhere ? "lanyard configure git --only" : "lanyard configure git \(first.place) --only"),
            "or install git 2.46 or later, which tells other helpers not to keep them")
    }

    /// Returns the URLs that tokens are for: those of rules and, if plugins map hosts, those in git's configuration.
    private func tokenPlaces(_ entries: [GitConfiguration.Entry]) -> [String] {
        let rules = configuration.rules.map(\.pattern.text)
        guard configuration.mapsKnownHosts else { return rules }
        let known = registry.gitHosts
        return rules + known.map { "https://\($0)" } + GitHelpers.lanyardPlaces(entries).filter { $0.hasBytes("://") }
    }

    /// Returns a finding for a place where a section of git's configuration drops lanyard, or puts another helper
    /// first.
    private func exception(
        _ entries: [GitConfiguration.Entry], _ everywhere: GitHelpers, _ places: [String]
    ) -> Finding? {
        for place in places + configuration.rules.map(\.pattern.text) {
            guard let request = try? CredentialRequest(url: place) else { continue }
            let helpers = GitHelpers(entries, for: request)
            if everywhere.hasLanyard, !helpers.hasLanyard {
                return .warn(
                    "git.helpers", "for \(place) git asks \(helpers.names), and not lanyard",
                    Hint(run: "lanyard configure git \(place)"))
            }
            guard helpers.hasLanyard, let first = helpers.beforeLanyard.first else { continue }
            return .warn(
                "git.helpers", "for \(place) git asks \(first.name), which answers first if it can",
                Hint(run: "lanyard configure git \(place) --only"))
        }
        return nil
    }

    /// Returns findings for rules that need a path that git doesn't send; other tools may send it, so this isn't
    /// necessarily wrong.
    private func paths(_ entries: [GitConfiguration.Entry]) async -> [Finding] {
        var findings: [Finding] = []
        let rules = configuration.rules.filter { $0.exchange == nil }
        for place in Set(rules.compactMap { configuration.placeByPath(of: $0, in: registry) }).sorted() {
            guard let request = try? CredentialRequest(url: place), GitHelpers(entries, for: request).hasLanyard,
                await !GitConfiguration(context).sendsPath(for: place)
            else { continue }
            findings.append(
                .warn(
                    "git.path",
                    "git does not send the path (useHttpPath is off), so git gets nothing from rules for "
                        + "\(place) that need it",
                    Hint(run: "lanyard configure git \(place)")))
        }
        return findings
    }

    private func interaction(_ entries: [GitConfiguration.Entry]) -> [Finding] {
        let off = entries.last { $0.key == "credential.interactive" }
        guard let off, GitConfiguration.forbidsPrompts(off.value) else { return [] }
        return [
            .warn(
                "git.interactive",
                "credential.interactive is \(off.value): git's requests never prompt you",
                Hint(run: "git config --global --unset credential.interactive"))
        ]
    }

    /// Checks the tools besides git that use lanyard: a finding for each one that was configured or finds lanyard by
    /// itself, none for other tools.
    func toolFindings() async -> [Finding] {
        let entries: [RecordedChange]
        do throws(CommandError) {
            entries = try ToolRecord(context).entries()
        } catch {
            return [.fail("tools", error)]
        }
        var findings: [Finding] = []
        for tool in ToolSetup.all {
            guard let finding = await finding(of: tool, entries.filter { $0.tool == tool.name }) else { continue }
            findings.append(finding)
        }
        return findings
    }

    private func finding(of tool: ToolSetup, _ entries: [RecordedChange]) async -> Finding? {
        let check = "tools.\(tool.name)"
        let isNamed = (try? ToolTarget(context)).map { !tool.settings($0).urlsFound.isEmpty } ?? false
        let isInUse =
            tool.installed(context) != nil && (isNamed || tool.isConfigured(context, isRecorded: false))
        guard isInUse || !entries.isEmpty else { return nil }
        if let changed = entries.first(where: { !$0.change.stands }) {
            let setting = changed.change.setting
            let file = context.short(setting.file)
            let option: ShellCommand = tool.profile(of: setting).map { "\(option: "--profile", $0)" } ?? ""
            let command: ShellCommand = "lanyard configure \(tool.name)\(option)\(last: changed.place)"
            let remedy = Hint("to write it again", run: command)
            return .warn(check, "what lanyard wrote to \(file) was changed", remedy)
        }
        if let helper = tool.helper, context.program(helper) == nil {
            return .fail(check, "\(tool.name) can't find \(helper)", .missing(helper, context))
        }
        if let unread = entries.first(where: { !tool.reads($0, context) }) {
            let file = context.short(unread.change.setting.file)
            let remedy = Hint("to configure it here, too", run: "lanyard configure \(tool.name)\(last: unread.place)")
            return .warn(check, "\(tool.name) does not read \(file) here, where it is told to ask lanyard", remedy)
        }
        if let outdated = await tool.outdated(context) {
            return .warn(check, "\(tool.name) is configured to ask lanyard, but is too old to do so", outdated)
        }
        // Whether a place works is a question about that place.
        let places = (entries.isEmpty ? [nil] : entries.map(\.place).uniqued).map { $0.flatMap(URLPattern.init) }
        let faults = places.flatMap { place in (try? tool.settings(ToolTarget(context, place)).faults()) ?? [] }
        guard let fault = faults.first else { return .pass(check, "\(tool.name) asks lanyard") }
        return .warn(check, "\(tool.name) is configured to ask lanyard, but may not", fault)
    }
}
