import PluginHost
import Rules
import Secrets
import Terminal
import TokenAcquisition
import TokenStore

extension Examination {
    /// Checks the client secrets that the rules' issuers need, if the keyring can be read: returns a finding for each
    /// client at an issuer that uses its secret.
    func clientSecretFindings() throws(StoreError) -> [Finding] {
        var findings: [Finding] = []
        var seen: Set<[String?]> = []
        for rule in configuration.rules {
            guard let id = configuration.clientID(of: rule),
                seen.insert([id, rule.authority, rule.kind]).inserted,
                let match = registry.match(rule), match.plugin.takesClientSecrets
            else { continue }
            let stored = try clientSecrets.secret(of: id, at: match)
            if let stored, let end = stored.end(ifOverAt: context.now) {
                findings.append(ended(stored, end, rule, of: id))
            } else if let issuer = match.issuer, !issuer.secretFlows.isEmpty {
                findings.append(finding(stored != nil, of: id, at: match, issuer))
            }
        }
        return findings
    }

    private func ended(_ secret: ClientSecret, _ end: Int, _ rule: Rule, of id: String) -> Finding {
        let name = "\(id.displayable(limit: 100)) at \(rule.authority.displayable(limit: 255))"
        let hints = secret.hints(afterEnd: end, rule: rule.pattern.text, authority: rule.authority)
        return .fail(Self.check, Failure("that of \(name) has expired", hints: hints))
    }

    private func finding(
        _ isStored: Bool, of id: String, at match: AuthorityMatch, _ issuer: PluginIssuer
    ) -> Finding {
        let name = "\(id.displayable(limit: 100)) at \(match.authority)"
        let store = Hint("the app's registration shows it; store it", run: .storingSecret(of: id))
        if isStored { return .pass(Self.check, "that of \(name) is stored") }
        guard let more = issuer.flowsBySecret else {
            return .fail(
                Self.check, "\(match.authority) requires that of \(id.displayable(limit: 100)), and none is stored",
                store)
        }
        return Finding(check: Self.check, level: .pass, text: "\(name): \(more)", remedies: [store])
    }

    private static let check = "client-secret"
}
