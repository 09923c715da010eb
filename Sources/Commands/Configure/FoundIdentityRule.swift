import Addresses
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

/// The rule by which a tool gets the tokens of an identity that a plugin finds on this machine, and the identity's own table if there
/// is none.
struct FoundIdentityRule {
    private let session: Session
    private let plugin: PluginManifest
    /// The identity to write; nil if there is one already.
    private let identity: Identity?
    private let rule: Rule

    /// The plugin that finds the identity.
    var finder: String { plugin.name }

    /// Returns what is missing for a URL; nil if something maps it, if no plugin has an identity for it, or if the plugin finds none,
    /// which is said unless there is another way.
    static func found(
        for pattern: URLPattern?, isOnlyWay: Bool = true, _ context: CommandContext
    ) async throws(CommandError) -> FoundIdentityRule? {
        guard let pattern, pattern.scheme == "https", pattern.isTokenPlace else { return nil }
        let session = try Session(context, of: .user, isToBeWritten: true)
        guard session.configuration.rule(for: pattern.request) == nil,
            let plugin = session.registry.finder(forHost: pattern.host.text),
            try session.resolve(pattern.request) == nil
        else { return nil }
        let new = FoundIdentityRule(session, plugin, pattern)
        do throws(AcquisitionError) { try await new.look() } catch {
            guard isOnlyWay else { return nil }
            let failure = CommandError(error, request: new.request, url: pattern.text, in: context)
            context.console.note("no rule is written for \(pattern.host.urlText): \(failure.message)")
            for hint in failure.hints { context.console.note(hint) }
            context.console.note("then run this again")
            return nil
        }
        return new
    }

    private init(_ session: Session, _ plugin: PluginManifest, _ pattern: URLPattern) {
        (self.session, self.plugin) = (session, plugin)
        let known = session.configuration.identities.first { $0.source == .machine("system", plugin: plugin.name) }
        identity = known == nil ? Identity(name: plugin.name, source: .machine("system", plugin: plugin.name)) : nil
        var rule = Rule(pattern: pattern, authority: "", scopes: [])
        rule.identity = (known ?? identity)?.name
        self.rule = rule
    }

    /// What the plugin is asked to look for.
    private var request: TokenRequest {
        var request = TokenRequest(
            MachineIdentity.authority(of: plugin.name), isConfigured: true, clientID: "system", scopes: [])
        request.identity = identity ?? Identity(name: plugin.name, source: .machine("system", plugin: plugin.name))
        return request
    }

    private func look() async throws(AcquisitionError) {
        defer { session.context.console.endProgress() }
        _ = try await session.acquirer.probe(request)
    }

    /// Shows the tables to write.
    func show(isDryRun: Bool) {
        let console = session.context.console
        let file = session.context.short(session.tables.file)
        console.note("this \(isDryRun ? "would be" : "is") written to \(file):")
        let text = [identity?.toml, rule.toml].compactMap(\.self).joined(separator: "\n").trimmed(of: "\n")
        console.show(rows: text.pieces(between: "\n", omittingEmpty: false).map(String.init))
    }

    /// Writes the tables.
    func write() throws(CommandError) {
        if let identity { try session.tables.write(identity) }
        try session.tables.write(rule)
    }
}
