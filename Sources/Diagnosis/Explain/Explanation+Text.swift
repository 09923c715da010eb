import Addresses
import Claims
import CommandKit
import Keyring
import Model
import PluginHost
import Rules
import Secrets
import Terminal
import TokenAcquisition
import Tools

extension Explanation {
    /// Returns the explanation for users, laid out for a number of columns.
    ///
    /// Of the rules that don't apply, it shows those that nearly do, or all of them.
    package func lines(columns: Int?, all: Bool = false) -> [String] {
        var lines = [url] + table(facts, columns)
        let subject = tool.map { "for \($0.name.text), lanyard" } ?? "lanyard"
        lines.append("\(subject) would \(next.text)".wrapped(columns: columns, indent: 2, from: 0))
        if let tool {
            let verb = next.step == .tryRenewal ? "may get" : "gets"
            let start = tool.uses?.here?.other == nil ? "" : "from lanyard, "
            lines.append("\(start)\(tool.name.text) \(verb) \(tool.gets)".wrapped(columns: columns, indent: 2, from: 0))
        }
        lines += hints.map { "  \($0.wrapped(columns: columns, indent: 4, from: 2))" }
        // The answer comes first, then what isn't about this URL.
        let passed = passedOver(all: all)
        guard !passed.isEmpty else { return lines }
        return lines + table([("other rules", passed)], columns)
    }

    private func table(_ facts: [(String, [String])], _ columns: Int?) -> [String] {
        let rows = facts.flatMap { name, values in
            values.enumerated().map { index, value in [index == 0 ? name : "", value] }
        }
        return Table(rows, atLeast: [9]).wrapped(columns: columns, indent: 2).map { "  \($0)" }
    }

    private var facts: [(String, [String])] {
        var facts = agent == nil ? [("rule", [rule])] : []
        if let wanted {
            facts += origin(of: wanted)
            if wanted.source == nil { facts.append(("scopes", wanted.scopes)) }
            if wanted.token == .id { facts.append(("token", ["the \(wanted.token.name)"])) }
            if !wanted.resourceIndicators.isEmpty { facts.append(("for", wanted.resourceIndicators)) }
            if let exchange = wanted.exchange { facts.append(("exchange", [exchange.displayed])) }
            if let claims = wanted.claims { facts.append(("claims", [claims])) }
        }
        if let decision {
            if wanted?.identity == nil, wanted?.source == nil { facts.append(("account", account(decision))) }
            if let stored = stored(decision) { facts.append(("stored", [stored])) }
            if let broker = decision.broker { facts.append(("broker", [Self.use(of: broker, decision)])) }
            facts.append(("cache", [isRemembered ? "an answer is cached" : "no answer is cached"]))
        }
        if let git {
            let missing = git.missing.map { ", but can't find \($0.program)" } ?? ""
            let path = git.sendsPath ? "sends the path" : "does not send the path"
            facts.append(("git", ["asks \(git.helpers.names)\(missing)", path]))
        }
        if let tool {
            facts.append(("asks", tool.asks))
            if let uses = tool.uses { facts.append((tool.name.text, [uses.text()])) }
            if !tool.reads.isEmpty { facts.append(("reads", tool.reads)) }
        }
        if let server { facts.append(("server", server.lines(at: url))) }
        return facts
    }

    /// Returns the issuer of the token and the client; a machine's platform has no meaningful address.
    private func origin(of wanted: TokenRequest) -> [(String, [String])] {
        if let source = wanted.source {
            let plugin = sourcePlugins.first.map { text(of: $0, before: sourcePlugins.dropFirst().map(\.name)) }
            return [("source", [source]), ("plugin", [plugin].compactMap(\.self))]
        }
        let isMachine = Identity.isMachine(authority: wanted.authority)
        var facts = isMachine ? [] : [("authority", [wanted.authority])]
        if let plugin = decision?.match?.plugin {
            facts.append(("plugin", [text(of: plugin, before: passedOverPlugins)]))
        }
        if let identity = wanted.identity { facts += self.facts(of: identity) }
        if !isMachine { facts.append(("client ID", [client(wanted)])) }
        return facts
    }

    private func text(of plugin: PluginManifest, before others: [String]) -> String {
        let text = plugin.problem.map { "\(plugin.name), which can't be used: \($0)" }
        return (text ?? "\(plugin.name) \(plugin.version)")
            + (others.isEmpty ? "" : ", before \(others.joined(separator: ", "))")
    }

    private func facts(of identity: Identity) -> [(String, [String])] {
        var facts = [("identity", ["\(identity.name) (named by \(namedBy))"])]
        facts.append(("proof", [identity.displayedProof.text]))
        if !identity.variables.isEmpty { facts.append(("variables", [identity.variables.joined(separator: " ")])) }
        return facts
    }

    private func client(_ wanted: TokenRequest) -> String {
        decision?.match?.displayedClient(wanted.clientID) ?? wanted.clientID
    }

    /// The maximum number of rules that don't apply, unless all are requested.
    private static let mostPassedOver = 5

    private func passedOver(all: Bool) -> [String] {
        let near = skipped.filter { all || $0.isNear }
        // Rules that would also match come first: people look for these.
        let ranked = near.filter(\.isMatch) + near.filter { !$0.isMatch }
        // A line in place of one rule would save nothing.
        let isLong = !all && near.count > Self.mostPassedOver + 1
        let shown = all ? near : isLong ? Array(ranked.prefix(Self.mostPassedOver)) : ranked
        let lines = shown.map { "\($0.rule.pattern.text): \($0.reason)" }
        let rest = skipped.count - shown.count
        guard rest > 0 else { return lines }
        let them = rest == 1 ? "it" : "them"
        guard shown.count == near.count else { return lines + ["and \(rest) more; --all lists \(them)"] }
        let what = "\(near.isEmpty ? "" : "more ")\(rest == 1 ? "rule" : "rules") for other hosts"
        return lines + ["\(rest) \(what); --all lists \(them)"]
    }

    private var rule: String {
        switch mapping {
        case .rule(let rule): "\(rule.pattern.text), at \(rule.place(context))"
        case .wellKnown(let name, let plugin): "none; the host is \(name), known to \(plugin)"
        case .nothing: isByName ? "none; the token is asked for by name" : "none maps this URL"
        }
    }

    private func account(_ decision: Decision) -> [String] {
        guard let account = decision.account else {
            if case .refuse(.store) = decision.step { return ["unknown: the keyring can't be read"] }
            guard !decision.accounts.isEmpty else { return ["nobody has signed in"] }
            if case .refuse(.noSuchAccount(let name, _)) = decision.step {
                let others = decision.accounts.namesApart.joined(separator: ", ")
                return ["\(name) has not signed in; these have: \(others)"]
            }
            return decision.accounts.map(\.displayName)
        }
        let how =
            switch decision.reason {
            case .named?: "named by \(namedBy)"
            case .username?: "the user name in the URL"
            case .selectedHere?: "chosen for this authority"
            case .selected?: "chosen for all authorities: lanyard use"
            case .hasToken?: "it has a token of this authority"
            case .atHome?: decision.match?.isSeparate == true ? "the only one" : "the only one from this tenant"
            case .hasBeenHere?: "the only one that has used this tenant"
            case .onlyOne?, nil: "the only one"
            }
        return ["\(account.displayName) (\(how))"]
    }

    private static func use(of broker: PluginManifest, _ decision: Decision) -> String {
        let when = decision.asksBrokerFirst ? "first" : "if the refresh token doesn't work"
        return "\(broker.name) \(broker.version) asks it, if there is one, \(when)"
    }

    private func stored(_ decision: Decision) -> String? {
        guard decision.account != nil || wanted?.identity != nil else { return nil }
        let kind = (wanted?.kindForPeople ?? .access).name
        let access =
            decision.accessToken.map { "\(kind), \(Moment.remaining(until: $0.expiresOn, now: now))" }
            ?? "no usable \(kind)"
        let result = decision.exchanged.map { "exchanged, \(Moment.remaining(until: $0.expiresOn, now: now)); " } ?? ""
        guard wanted?.identity == nil else { return result + access }
        let renewal = decision.canRenew ? "refresh token" : decision.isBrokered ? nil : "no refresh token"
        let origin = decision.isBrokered ? "from the machine's broker" : nil
        return result + [access, origin, renewal].compactMap(\.self).joined(separator: "; ")
    }

    /// The hints that would make it work, or work better.
    package var hints: [Hint] {
        var hints = next.hints
        guard tool?.asksNothing != true else { return hints }
        guard agent == nil else { return hints + gitHints }
        let exchange: ShellCommand = tool?.takesFields == true ? " --exchange \(AWSProtocol.exchange)" : ""
        let client: ShellCommand = isExchanging ? "" : " --client-id \(offeredClient ?? "ID")"
        let add: ShellCommand = "lanyard rule add \(ruleURL) --authority URL\(client)"
        switch (mapping, wanted) {
        case (.nothing, nil) where !isTokenPlace: hints.append(.overHTTPS(url))
        case (.nothing, nil) where tool.map(\.name.isGit) != false && issuer != nil && next.failure == nil:
            let name = issuer?.displayName ?? ""
            hints.append(Hint("to sign in to \(name) here", run: "lanyard configure git \(url.placeOfURL)"))
        case (.nothing, nil) where isByName: break
        case (.nothing, nil) where next.failure == nil:
            let scope: ShellCommand = isExchanging ? "" : " --scope SCOPE"
            hints.append(Hint("to get a token here", run: "\(add)\(scope)\(exchange)"))
        case (.wellKnown, nil):
            hints.append(
                Hint(
                    "neither authority nor client-id is set for it; set them in \(context.short(context.userFile)), or",
                    run: add))
        default: break
        }
        if lacksSecret, let wanted, let issuer = decision?.match?.issuer, let more = issuer.flowsBySecret {
            hints.append(Hint("\(more); store it", run: .storingSecret(for: wanted)))
        }
        if let lookAlike {
            hints.append("the authority's host looks like \(lookAlike), but is a different one: is it the right one?")
        }
        // One command may be the remedy for two problems.
        let others = gitHints + [exchangeHint, tool?.uses?.hint, tool?.outdated].compactMap(\.self)
        return hints + others.filter { hint in !hints.contains { $0.copied == hint.copied } }
    }

    /// The URL for a new rule; without the path if the tool sends only the host, because rules with a path wouldn't
    /// apply.
    private var ruleURL: String { tool?.sendsPath == false ? url.placeOfURL : url }

    /// A hint to make the rule's exchange return what the tool can use.
    private var exchangeHint: Hint? {
        guard let tool, tool.takesFields, case .rule(let rule) = mapping, let wanted,
            !AWSProtocol.givesKeys(wanted.exchange?.name)
        else { return nil }
        return Hint(
            "for AWS keys, in the rule at \(rule.place(context))", write: "exchange = \"\(AWSProtocol.exchange)\"")
    }

    /// Whether each token is for one repository, as an application's are at some code hosts.
    private var isPerRepository: Bool {
        guard case .rule(let rule) = mapping, let wanted else { return false }
        return wanted.identity?.application != nil && rule.resourceIndicators.isEmpty
            && decision?.match?.issuer?.repositoryScopes != nil
    }

    private var gitHints: [Hint] {
        guard let git else { return [] }
        let place = url.placeOfURL
        var hints: [Hint] = []
        let command: ShellCommand = "lanyard configure git \(place)"
        if !git.helpers.hasLanyard, isTokenPlace, !isExchanging {
            hints.append(Hint("git does not ask lanyard here", run: command))
        } else if !git.helpers.hasLanyard, !isExchanging, case .nothing = mapping {
            hints.append(Hint("to have git ask lanyard for the password only", run: command))
        }
        if let missing = git.missing {
            hints.append(Hint("git can't find \(missing.program); to tell it where lanyard is", run: missing.remedy))
        }
        if let first = git.helpers.beforeLanyard.first, git.helpers.hasLanyard {
            hints.append(
                Hint("git asks \(first.name) first; for lanyard alone", run: "lanyard configure git \(place) --only"))
        }
        if case .rule(let rule) = mapping, !git.sendsPath, rule.pattern.hasPathOfGit || isPerRepository {
            let what: Message = rule.pattern.hasPathOfGit ? "this rule never matches" : "it gets no token"
            hints.append(
                Hint(
                    "git does not send the path (useHttpPath is off), so \(what)",
                    run: "lanyard configure git \(place)"))
        }
        return hints
    }
}

extension TokenExchange {
    /// The exchange, its host and its parameters, such as `acr, at contoso.azurecr.io`.
    fileprivate var displayed: String {
        let place = path.isEmpty ? audience : "\(audience)/\(path)"
        let more = parameters.sorted { $0.key < $1.key }.map { ", \($0.key) \($0.value)" }.joined()
        return "\(name), at \(place)" + more
    }
}

extension ServerAnswer {
    /// Returns the answer for users; text that isn't the server's own is marked as such.
    fileprivate func lines(at url: String) -> [String] {
        switch self {
        case .challenges:
            return challenges.map { "wants \($0.displayed)" }
                + [resourceMetadata.map { Self.metadata($0, at: url) }].compactMap(\.self)
        case .open: return ["wants no sign-in"]
        case .none(let words): return ["names no way to sign in: \(words)"]
        case .unreachable(let reason): return ["could not be asked: \(reason)"]
        }
    }

    private static func metadata(_ document: String, at url: String) -> String {
        let isItsOwn = document.placeOfURL.lowercased() == url.placeOfURL.lowercased()
        return "describes itself at \(document)" + (isItsOwn ? "" : ", which is another host")
    }
}

extension AuthenticateChallenge {
    /// The scheme and realm, such as `Basic as "GitLab"`.
    fileprivate var displayed: String {
        let name = scheme.prefix(1).uppercased() + scheme.dropFirst()
        return name + (parameters["realm"].map { " as \"\($0)\"" } ?? "")
    }
}

extension String {
    /// A URL without path, query and fragment.
    var placeOfURL: String {
        StrictURL(self).map { String($0.origin) } ?? self
    }
}
