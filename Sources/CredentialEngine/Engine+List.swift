import Addresses
import Rules
import Secrets
import TokenAcquisition
import TokenStore

extension CredentialSources {
    /// Returns the hosts that accept an exchanged token, each with its user name, if it can be had without the user.
    ///
    /// A host that only a pattern covers is included once a token was exchanged for it.
    fileprivate func exchangeHosts() throws(StoreError) -> [String: String] {
        let records = try acquirer.allRecords()
        let mapped = configuration.rules.filter { $0.pattern.scheme == "https" }.map(\.pattern.host)
        let kept = records.exchanged.filter(\.path.isEmpty).compactMap { RequestHost($0.audience) }
        var hosts: [String: String] = [:]
        for host in mapped + kept where !host.name.hasBytes("*") {
            var request = CredentialRequest()
            (request.scheme, request.host) = ("https", host)
            guard let wanted = try? resolve(request), let exchange = wanted.exchange, !exchange.isPerPath else {
                continue
            }
            let decision = acquirer.decide(wanted, among: records)
            switch next(decision, for: wanted, .none) {
            case .answer(let token) where !token.accessToken.isEmpty:
                hosts[exchange.audience] = token.basicUsername ?? ""
            case .exchange, .renew, .askBroker(isSure: true, _):
                hosts[exchange.audience] = decision.account?.username ?? ""
            case .authenticate: hosts[exchange.audience] = ""
            case .answer, .askBroker, .signIn, .choose, .unlock, .fail: continue
            }
        }
        return hosts
    }
}

extension Engine {
    /// Lists the servers with passwords stored under labels with this prefix, and those that accept an exchanged token.
    func list(labelled prefix: String) throws(Refusal) -> Attempt {
        try answer(.list(labelPrefix: prefix)) { sources throws(Refusal) in
            do throws(StoreError) {
                let exchanged = try sources.exchangeHosts()
                // The rule's answer takes precedence over a stored password.
                return .settled(.list(try sources.passwords.labelled(prefix).merging(exchanged) { $1 }))
            } catch {
                throw .store(error)
            }
        }
    }
}
