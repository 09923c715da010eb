import Addresses
package import Model
public import PluginHost
public import Rules
import TokenAcquisition

extension Configuration {
    /// Makes apps without a kind rules for their authority's own URL, where a plugin knows a code host's; looks for plugins only if
    /// there are any.
    public mutating func addRules(knownTo plugins: InstalledPlugins) {
        guard !possibleRules.isEmpty else { return }
        let known = possibleRules.filter { rule in
            guard !rules.contains(where: { $0.pattern.means(rule.pattern) }) else { return false }
            let match = plugins.registry.match(authority: rule.authority, isConfigured: true)
            return match?.authority.path.isEmpty == true && match?.issuer?.placeholderUsernames != nil
        }
        (rules, possibleRules) = (known + rules, [])
    }

    /// Returns the ID of a client that is given by name or by ID.
    ///
    /// - Throws: `ResolutionError` if a policy forbids the client, or if the text is neither a name nor an ID.
    public func clientID(_ text: String, at match: AuthorityMatch) throws(ResolutionError) -> String {
        guard !text.isEmpty else {
            guard let own = match.plugin.clientID else { throw .noClientID(authority: match.authority.description) }
            return own
        }
        if let client = match.client(text) {
            guard allows(client: client.name) else { throw .forbiddenClient(client.name) }
            return client.id
        }
        // Code hosts make up their apps' IDs: another kind's app isn't there.
        let isElsewhere = match.issuer != nil && match.plugin.clients.contains { $0.name == text }
        guard match.takes(clientID: text), !isElsewhere else {
            let names = match.clients.map(\.name).filter(allows)
            let nearest = match.nearestClient(to: text).flatMap { names.contains($0) ? $0 : nil }
            let path = match.authority.path.joined(separator: "/")
            throw .unknownClient(
                text, names: names, nearest: nearest, authority: "https://\(match.authority.host)/\(path)")
        }
        return text
    }

    /// Returns the rule whose sign-in serves a further host of a code host's, such as its registry, and the code host's row; nil if the
    /// configuration has no rule for the code host, or if the host is none of these.
    package func rule(
        ofOtherHost request: CredentialRequest, _ registry: @autoclosure () -> PluginRegistry
    ) -> (rule: Rule, issuer: PluginIssuer)? {
        // Most hosts are nobody's, and finding plugins takes longer than this check.
        let own = rules.filter { $0.source == nil && !$0.pattern.hasPath && $0.unknownKey == nil }
        guard request.scheme == "https", let host = request.host?.withoutOwnPort(of: "https"), host.port == nil,
            !own.isEmpty, let issuer = registry().issuer(ofOtherHost: host.name), let code = issuer.hosts.first,
            let rule = own.last(where: {
                $0.pattern.host.text.isSame(as: code) && AuthorityURL(authority(of: $0))?.host == code
            })
        else { return nil }
        return (rule, issuer)
    }

    /// Returns the authority of a rule, which may be its identity's.
    private func authority(of rule: Rule) -> String {
        let ofIdentity = rule.identity.flatMap { try? identity(named: $0).authority }
        return ofIdentity ?? rule.authority
    }

    /// Returns the code host that gives an identity's application a token for each repository; nil if none does.
    package func authorityPerRepository(of identity: String, in registry: PluginRegistry) -> AuthorityMatch? {
        guard let application = try? self.identity(named: identity).application,
            let match = registry.match(authority: application.authority, kind: application.kind, isConfigured: true),
            match.issuer?.repositoryScopes != nil
        else { return nil }
        return match
    }

    /// Returns the host to which git must send the path for a rule's sake: the rule has one, or its tokens are for one
    /// repository each; nil if it needn't.
    package func placeByPath(of rule: Rule, in registry: PluginRegistry) -> String? {
        if let place = rule.pattern.placeWithPath { return place }
        guard rule.resourceIndicators.isEmpty, let identity = rule.identity,
            authorityPerRepository(of: identity, in: registry) != nil
        else { return nil }
        return "\(rule.pattern.scheme)://\(rule.pattern.host.urlText)"
    }

    /// Returns the IDs of all apps that the configuration names, as keys.
    public func clientIDs(in registry: PluginRegistry) -> Set<String> {
        let named = Set((rules.map(\.clientID) + apps.map(\.clientID) + [clientID]).compactMap(\.self))
        let ids = named.flatMap { name in
            let known = name.isUUID ? [] : registry.clientIDs(named: name)
            return known.isEmpty ? [name] : known
        }
        return Set((ids + registry.plugins.compactMap(\.clientID)).map(\.clientKey))
    }
}

extension PluginRegistry {
    /// Returns what keeps a rule from ever giving a token at its authority, or its identity's; nil if nothing is known to.
    public func mistake(in rule: Rule, at match: AuthorityMatch) -> ResolutionError? {
        let host = rule.pattern.host.text
        if rule.token == .id {
            if let identity = rule.identity {
                if match.ownScopes == nil || !match.plugin.supports.contains(.resources) {
                    return .idTokenOfIdentity(identity)
                }
            } else if match.issuer?.givesIDTokens == false {
                return .noIDTokens(authority: rule.authority)
            }
        }
        let exchange = exchange(named: rule.exchange, forHost: host, at: match)
        if let unknown = rule.exchange, exchange == nil {
            return .unknownExchange(unknown, authority: match.authority.description)
        }
        if exchange == nil, match.plugin.supports.contains(.exchangesOnly), !rule.pattern.hasWildcard {
            return .onlyForExchanges(plugin: match.plugin.name, host: host, exchanges: exchangeNames(at: match))
        }
        let known = exchange?.parameters ?? []
        return rule.exchangeParameters.keys.sorted().first { !known.contains($0) }.map {
            .unknownExchangeParameter($0, exchange: exchange?.name ?? "none", known: known)
        }
    }

    /// Returns the identity that the environment describes.
    ///
    /// - Throws: `ResolutionError` if it describes none, or one that isn't available.
    func ambientIdentity(in environment: [String: String]) throws(ResolutionError) -> Identity {
        switch identity(in: environment) {
        case .wrong(let variable, let what):
            throw .invalidVariable(variable, mustBe: what)
        case .nothing(let known):
            let present = Set(known.flatMap(\.self)).filter { environment[$0]?.isEmpty == false }
            throw .noIdentityInEnvironment(known, present: present.sorted())
        case .identity(let found):
            if let refusal = found.refusal { throw .refusedIdentity(refusal) }
            var identity = Identity(name: Identity.environment.name, source: found.source)
            identity.variables = found.variables
            identity.isAssumed = found.isAssumed
            identity.lackingVariables = variablesLacking(in: environment)
            if found.isAssumed {
                identity.unsetVariables = variablesOfApplications.filter { environment[$0]?.isEmpty ?? true }
            }
            return identity
        }
    }

    /// The variables that the usual description of an application shares with others.
    private var variablesOfApplications: [String] {
        let rows = plugins.flatMap(\.identityPatterns).filter { $0.managed == nil }
        return rows.first?.variables.filter { name in rows.count { $0.variables.contains(name) } > 1 } ?? []
    }

    /// Returns the variables that are missing from an otherwise complete description of an application.
    private func variablesLacking(in environment: [String: String]) -> [String] {
        plugins.flatMap(\.identityPatterns).filter { $0.refusal == nil && $0.variables.count > 2 }.compactMap {
            pattern in
            let lacking = pattern.variables.filter { environment[$0]?.isEmpty ?? true }
            return lacking.count == 1 ? lacking[0] : nil
        }
    }
}

extension IdentityPattern {
    /// The source of the identity that the row describes.
    fileprivate var source: Identity.Source {
        if let managed { return .machine(managed) }
        let proof: Identity.Proof =
            if let secretVariable {
                .secret(.variable(secretVariable))
            } else if let certificate {
                .certificate(path: certificate, password: certificatePasswordVariable.map(Identity.Keeper.variable))
            } else {
                .assertion(assertion ?? "")
            }
        return .application(
            Identity.Application(authority: authority ?? "", kind: nil, clientID: clientID ?? "", proof: proof))
    }
}

extension Resolver {
    /// Returns the reason why a token must not be handed out: it is only for exchanges, and isn't exchanged; nil if there is
    /// none.
    func misuse(of token: TokenRequest) -> ResolutionError? {
        guard token.exchange == nil, token.source == nil, let match = plugins.registry.match(token),
            match.plugin.supports.contains(.exchangesOnly)
        else { return nil }
        return .onlyForExchanges(
            plugin: match.plugin.name, host: token.host, exchanges: plugins.registry.exchangeNames(at: match))
    }
}
