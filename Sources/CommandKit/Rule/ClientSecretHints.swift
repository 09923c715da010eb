import Addresses
package import Keyring
package import Model
import PluginHost
import PluginWire
import Secrets
package import Terminal
import TokenAcquisition
import Tools

extension CommandError {
    /// Creates the error for a client that needs its secret.
    package init(noClientSecret request: TokenRequest) {
        let client = request.clientID.displayable(limit: 100)
        self.init(
            "\(request.authority) requires the client secret of \(client), and none is stored",
            hints: [Hint("the app's registration shows it; store it", run: .storingSecret(for: request))])
    }

    /// Returns the hints for a client that its authority doesn't accept, depending on what is stored for it.
    package static func hints(refusing request: TokenRequest, in context: CommandContext) -> [Hint] {
        let id = request.clientID.displayable(limit: 100)
        let place = if case .rule = request.origin { " in the rule" } else { "" }
        let check: Hint = "check the client ID\(place): \(request.authority.displayable(limit: 255)) may not know \(id)"
        let session = try? Session(context, options: .init(isInteractive: false))
        let checks = [check] + [session?.tables.remaking(ruleOf: request)].compactMap(\.self)
        let match = session?.registry.match(
            authority: request.authority, kind: request.kind, isConfigured: request.authorityIsConfigured)
        // The ID of an app that has a name is right; the authority just doesn't have the app.
        if let match, match.issuer != nil, match.client(request.clientID) != nil,
            let registration = match.registrationHint
        {
            guard case .rule(let url) = request.origin else { return [registration] + match.registrationDetails }
            return [registration] + match.registrationDetails + checks.dropFirst() + [
                Hint("and set git up again, with the new client ID", run: "lanyard configure git\(last: url)")
            ]
        }
        guard let session, let match, match.plugin.supports.contains(.clientSecrets) else { return checks }
        let store = ShellCommand.storingSecret(for: request)
        guard let stored = try? session.clientSecrets.secret(of: request.clientID, at: match) else {
            return checks + [Hint("if the app has a secret, store it", run: store)]
        }
        if let end = stored.end(ifOverAt: context.now) {
            var rule: String?
            if case .rule(let pattern) = request.origin { rule = pattern }
            return stored.hints(afterEnd: end, rule: rule, authority: request.authority)
        }
        return [Hint("the stored client secret is wrong, or no longer valid; store the current one", run: store)]
    }
}

extension ClientSecret {
    /// Returns the expiry if it has passed, in seconds since 1970; nil if it hasn't.
    package func end(ifOverAt now: Int) -> Int? { expiresOn.flatMap { $0 <= now ? $0 : nil } }

    /// Returns the hints for an expired secret; only registering again brings another.
    package func hints(afterEnd end: Int, rule: String?, authority: String) -> [Hint] {
        let url = rule ?? "URL"
        return [
            Hint(
                "the stored client secret expired on \(Moment.local(end)); remove the rule",
                run: "lanyard rule remove\(last: url)"),
            Hint(
                "and register again",
                run: "lanyard rule add\(option: "--authority", authority)\(flag: "--register", if: true)\(last: url)"),
        ]
    }
}

extension ShellCommand {
    /// Returns the command that stores a client's secret, with the authority if the command needs it.
    package static func storingSecret(of clientID: String, at authority: String? = nil) -> ShellCommand {
        "lanyard rule secret\(option: "--authority", authority)\(last: clientID)"
    }

    /// Returns the command that stores the secret of a request's client; it names the issuer unless the configuration
    /// does.
    package static func storingSecret(for request: TokenRequest) -> ShellCommand {
        let isOwn = !request.named.isDisjoint(with: [.authority, .clientID])
        return storingSecret(of: request.clientID, at: isOwn ? request.authority : nil)
    }
}

extension PluginIssuer {
    /// The additional flows that a client's secret would allow, for users; nil if there are none, or if no flow works
    /// without it.
    package var flowsBySecret: String? {
        let others = flows.filter { !secretFlows.contains($0) }
        guard !secretFlows.isEmpty, !others.isEmpty else { return nil }
        func list(_ flows: [PluginRequest.Flow]) -> String { flows.map(\.rawValue).joined(separator: ", ") }
        return
            "without the app's client secret, you sign in by \(list(others)) only; with it, by \(list(secretFlows)) too"
    }
}
