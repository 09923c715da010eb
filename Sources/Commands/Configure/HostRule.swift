import Addresses
import ArgumentParser
import Claims
import CommandKit
import Model
import PluginHost
import PluginWire
import Rules
import Secrets
import SettingsFile
import Terminal
import TokenAcquisition
import Tools

/// The rule by which a tool gets tokens for a cloud's host: those of an identity that a plugin finds on this machine, with the
/// identity's own table if there is none, or those of a sign-in.
struct HostRule {
    private let session: Session
    private let plugin: PluginManifest
    /// The identity to write; nil if there is one already.
    private var identity: Identity?
    private var rule: Rule
    /// What the plugin finds, in its words; nil if it says nothing.
    private var found: String?

    /// The plugin that finds the identity.
    var finder: String { plugin.name }

    /// Returns what is missing for a URL; nil if something maps it, or if no plugin has an identity for it.
    ///
    /// If the plugin finds none, that is said, and the user is asked whether to sign in instead; unless there is another way.
    static func found(
        for pattern: URLPattern?, isOnlyWay: Bool = true, _ prompt: Prompt? = nil, _ context: CommandContext
    ) async throws(CommandError) -> HostRule? {
        guard let pattern, pattern.scheme == "https", pattern.isTokenPlace else { return nil }
        let session = try Session(context, of: .user, isToBeWritten: true)
        guard session.configuration.rule(for: pattern.request) == nil,
            let plugin = session.registry.finder(forHost: pattern.host.text),
            try session.resolve(pattern.request) == nil
        else { return nil }
        var new = HostRule(session, plugin, pattern)
        do throws(AcquisitionError) { try await new.look() } catch {
            guard isOnlyWay else { return nil }
            let failure = CommandError(error, request: new.request, url: pattern.text, in: context)
            context.console.note("no rule is written for \(pattern.host.urlText): \(failure.message)")
            for hint in failure.hints { context.console.note(hint) }
            guard let prompt else {
                let add: ShellCommand = "lanyard rule add \(pattern.text) --authority \(new.likelyAuthority ?? "URL")"
                context.console.note(Hint("or have your organisation's sign-in used", run: add))
                context.console.note("then run this again")
                return nil
            }
            guard await prompt.accepts("or sign in yourself, at your organisation?") else { return nil }
            try await new.haveUserSignIn(prompt)
        }
        return new
    }

    private init(_ session: Session, _ plugin: PluginManifest, _ pattern: URLPattern) {
        (self.session, self.plugin) = (session, plugin)
        let known = session.configuration.identity(foundBy: plugin.name)
        identity = known == nil ? Identity(name: plugin.name, source: .machine("system", plugin: plugin.name)) : nil
        var rule = Rule(pattern: pattern, authority: "", scopes: [])
        rule.identity = (known ?? identity)?.name
        self.rule = rule
    }

    /// Asks where the user signs in; one who does at one of the plugin's authorities for other tools probably does there, too.
    private mutating func haveUserSignIn(_ prompt: Prompt) async throws(CommandError) {
        let (options, page): (RuleOptions, SignInPageOptions)
        do { (options, page) = (try .parse([]), try .parse([])) } catch { return }
        var draft = RuleDraft(session: session, pattern: rule.pattern, options: options, page: page, prompt: prompt)
        draft.likelyAuthority = likelyAuthority
        (identity, rule) = (nil, try await draft.rule())
    }

    /// The only authority of the plugin's that rules or other tools' settings name; nil if there are several.
    private var likelyAuthority: String? {
        let ofTools = ToolSetup.all.flatMap { setup in
            (try? setup.settings(ToolTarget(session.context)).authorities) ?? []
        }
        let known = Set(session.configuration.rules.map(\.authority) + ofTools).filter {
            session.registry.match(authority: $0, kind: nil, isConfigured: true)?.plugin.name == plugin.name
        }
        return known.count == 1 ? known.first : nil
    }

    /// What the plugin is asked to look for.
    private var request: TokenRequest {
        var request = TokenRequest(
            MachineIdentity.authority(of: plugin.name), isConfigured: true, clientID: "system", scopes: [])
        request.identity = identity ?? Identity(name: plugin.name, source: .machine("system", plugin: plugin.name))
        return request
    }

    private mutating func look() async throws(AcquisitionError) {
        defer { session.context.console.endProgress() }
        found = try await session.acquirer.probe(request).summary
    }

    /// Shows the tables to write.
    func show(isDryRun: Bool) {
        let console = session.context.console
        let file = session.context.short(session.tables.file)
        if let found, rule.identity != nil { console.note("the plugin \(plugin.name) finds \(found)") }
        console.note("this \(isDryRun ? "would be" : "is") written to \(file):")
        let text = [identity?.toml, rule.toml].compactMap(\.self).joined(separator: "\n").trimmed(of: "\n")
        console.show(rows: text.pieces(between: "\n", omittingEmpty: false).map(String.init))
    }

    /// Writes the tables.
    func write() throws(CommandError) {
        if let identity { try session.tables.write(identity) }
        try session.tables.write(rule)
        guard rule.identity == nil else { return }
        session.context.console.note(Hint("next", run: "lanyard login\(last: rule.pattern.text)"))
    }
}
