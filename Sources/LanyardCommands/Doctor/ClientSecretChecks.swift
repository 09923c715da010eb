import PluginHost
import Rules
import Secrets
import Terminal
import TokenAcquisition
import TokenStore

/// The clients' secrets that the rules' issuers want, if the keyring can be read.
struct ClientSecretChecks {
    private let examination: Examination

    init(_ examination: Examination) {
        self.examination = examination
    }

    /// A client at an issuer.
    private struct Client: Hashable {
        let id: String
        let authority: String
        let kind: String?
    }

    /// One for each client at an issuer that has a use for its secret.
    func findings() throws(StoreError) -> [Finding] {
        var findings: [Finding] = []
        var seen: Set<Client> = []
        for rule in examination.configuration.rules {
            guard let id = rule.clientID ?? examination.configuration.clientID(at: rule.authority),
                seen.insert(Client(id: id, authority: rule.authority, kind: rule.kind)).inserted,
                let match = examination.registry.match(authority: rule.authority, kind: rule.kind, isConfigured: true),
                let issuer = match.issuer, !issuer.secretFlows.isEmpty
            else { continue }
            let isStored = try examination.clientSecrets.secret(of: id, at: match) != nil
            findings.append(finding(isStored, of: id, at: match, issuer))
        }
        return findings
    }

    private func finding(
        _ isStored: Bool, of id: String, at match: AuthorityMatch, _ issuer: PluginIssuer
    ) -> Finding {
        let name = "\(id.displayable(limit: 100)) at \(match.authority)"
        let store = Hint("the app's registration shows it; store it", run: .storingSecret(of: id))
        if isStored { return .pass(Self.check, "that of \(name) is stored") }
        guard let more = issuer.flowsBySecret else {
            return .fail(
                Self.check, "\(match.authority) wants that of \(id.displayable(limit: 100)), and none is stored", store)
        }
        return Finding(check: Self.check, level: .pass, text: "\(name): \(more)", remedies: [store])
    }

    private static let check = "client-secret"
}
