import Addresses
import CommandKit
import CredentialEngine
import Keyring
import Model
import PluginHost
import PluginWire
import Rules
import Secrets
import Terminal
import TokenAcquisition

/// Determines what happens for a URL, in the same way as `get`.
final class Explainer {
    private(set) var request: CredentialRequest
    /// The session that `get` would have; it may ask the user.
    let session: Session
    /// The same session, but unable to ask the user or to have the keyring unlocked.
    private let quiet: Session
    /// Whether to ask the URL's server.
    private let isOnline: Bool
    /// The tool that asks; nil for git, and for anything that asks as git does.
    let tool: SimulatedTool?
    /// The typed path; nil for none.
    private let typedPath: String?
    /// What the identity's plugin finds on this machine, in its words; nil if it wasn't asked, or says nothing.
    private var found: String?
    /// Whether the typed URL has a user name.
    let typedUsername: Bool
    var explanation: Explanation

    init(
        url: String, account: String?, isOnline: Bool, for tool: SimulatedTool? = nil, in context: CommandContext
    ) throws(CommandError) {
        self.isOnline = isOnline
        self.tool = tool
        let timing = DueRenewals.timing(in: context)
        session = try Session(context, options: .init(timing: timing))
        quiet = try Session(context, options: .init(isInteractive: false, timing: timing))
        let typed = try CredentialRequest(url: url)
        request = tool?.request ?? typed
        typedPath = typed.path
        typedUsername = typed.username != nil
        // If the keyring doesn't respond, that is what the explanation is about.
        if let account, let stored = account.isWholeAddress ? nil : try? quiet.acquirer.allRecords() {
            request.explicit.account = try KnownAccounts(quiet.acquirer.accounts(among: stored)).name(typed: account)
        } else {
            request.explicit.account = account
        }
        explanation = Explanation(url: request.place ?? typed.url, now: context.now, context: context)
        explanation.isByName = request.host == nil
    }

    /// Explains the request; call it once.
    func explanation() async -> Explanation {
        await explain()
        explanation.tool = toolView
        explanation.tool?.outdated = await tool?.name.configured?.outdated(session.context)
        if explanation.agent != nil, tool?.request != nil {
            explanation.tool?.gets = "what the agent returns"
            explanation.tool?.isUnusable = false
        }
        if let tool, tool.request == nil { explanation.next = tool.silent(explanation.url) }
        if let view = explanation.tool, view.isUnusable {
            explanation.next = .init(
                step: .fail, text: "find a credential that \(view.name.text) can't use",
                status: view.status.flatMap(ExitStatus.init(rawValue:)) ?? .failed)
        }
        return explanation
    }

    private func explain() async {
        let chosen = session.configuration.rule(for: request)
        let isWithoutGit = request.host.map { session.registry.servesNoGit(host: $0.text) } ?? false
        if tool?.name.isGit ?? !isWithoutGit { explanation.git = await gitView() }
        explanation.isTokenPlace = request.isTokenPlace
        if let agent = session.configuration.agent {
            explanation.agent = agent
            let shown = session.context.short(agent)
            explanation.next = .init(step: .askAgent, text: "ask the agent at \(shown), which has its own rules")
            return
        }
        explanation.mapping = mapping(chosen)
        explanation.skipped = skipped(for: chosen)
        explanation.server = await server()
        // Only git passes the server's challenges on; other tools don't, at least not the first time they ask.
        if tool?.name.isGit ?? true { request.wwwAuthenticate = explanation.server?.headers ?? [] }
        explanation.issuer = issuer
        explanation.isExchanging =
            request.host.map {
                session.registry.finder(forHost: $0.text) != nil && session.registry.exchanges(forHost: $0.text)
            } ?? false
        explanation.offeredClient = request.host.flatMap { session.registry.resource(forHost: $0.text) }?.clients
            .first(where: session.configuration.allows)
        do throws(CommandError) {
            explanation.wanted = try session.resolve(request)
        } catch {
            explanation.next = .init(error)
            return
        }
        guard let wanted = explanation.wanted else {
            explanation.next = password()
            return
        }
        explanation.namedBy = namer(of: wanted)
        if isOnline, case .machine? = wanted.identity?.source {
            found = try? await session.acquirer.probe(wanted).summary
        }
        let decision = quiet.acquirer.decide(wanted)
        explanation.decision = decision
        explanation.passedOverPlugins = decision.match.map { session.registry.passedOver(for: $0).map(\.name) } ?? []
        explanation.sourcePlugins = wanted.source.map(session.registry.plugins(ofSource:)) ?? []
        explanation.lookAlike = (decision.match?.authority.host).flatMap(session.registry.lookAlike)
        explanation.isRemembered = remembered != nil
        explanation.lacksSecret = wanted.identity == nil && Self.lacksSecret(decision)
        explanation.next = await next(decision, wanted)
    }

    /// Returns what named the account or the identity; a setting's file or variable is named.
    private func namer(of wanted: TokenRequest) -> String {
        let isAccount = wanted.identity == nil
        switch wanted.namedBy {
        case .rule: return "the rule"
        case .request, nil: return isAccount ? "--account" : "the request"
        case .configuration:
            let settings = (try? Configuration.settings(in: session.context)) ?? []
            let setting = settings.first { $0.key == (isAccount ? "account" : "default-identity") }
            return setting.map { $0.origin(session.context) } ?? "the configuration"
        }
    }

    private func mapping(_ rule: Rule?) -> Explanation.Mapping {
        if let rule { return .rule(rule) }
        if let (rule, _) = session.configuration.rule(ofOtherHost: request, session.registry) { return .rule(rule) }
        guard request.scheme == "https", let host = request.host, host.withoutOwnPort(of: "https").port == nil,
            let known = session.registry.resource(forHost: host.name),
            let plugin = session.registry.plugins.first(where: { $0.resources.contains(known) })
        else { return .nothing }
        return .wellKnown(known.name, plugin: plugin.name)
    }

    /// Returns the rules that don't apply; empty if the token is requested directly, since rules have no part in that.
    private func skipped(for chosen: Rule?) -> [Explanation.SkippedRule] {
        guard let host = request.host else { return [] }
        return session.configuration.rules.filter { $0 != chosen }.map { rule in
            Explanation.SkippedRule(
                rule: rule, reason: reason(rule, chosen), isNear: rule.pattern.host.isRelated(to: host),
                isMatch: mismatch(rule) == nil)
        }
    }

    /// Returns the reason why a rule doesn't apply.
    private func reason(_ rule: Rule, _ chosen: Rule?) -> String {
        let caseless = session.configuration.caseless
        switch mismatch(rule) {
        case .scheme: return "another scheme"
        case .host: return "another host"
        case .port: return "another port"
        case .path: return reasonOfPath
        case .pathCase: return "its path differs in upper and lower case"
        case .username: return "another user name"
        case nil: break
        }
        guard let chosen, let fit = rule.pattern.fit(request, caseless: caseless),
            let best = chosen.pattern.fit(request, caseless: caseless)
        else {
            return "passed over"
        }
        return fit < best ? "less specific" : "as specific, but earlier"
    }

    private func mismatch(_ rule: Rule) -> URLPattern.Mismatch? {
        rule.pattern.mismatch(request, caseless: session.configuration.caseless)
    }

    private var reasonOfPath: String {
        if let tool, !tool.sendsPath { return "it needs a path, which \(tool.name.text) never sends" }
        guard request.path == nil else { return "another path" }
        guard let tool, typedPath != nil else { return "it needs a path, and the URL has none" }
        return "it needs a path, which \(tool.name.text) does not send"
    }

    /// Returns git's view of the URL; nil without git.
    private func gitView() async -> Explanation.GitView? {
        guard let entries = try? await GitConfiguration(session.context).everything() else { return nil }
        let sendsPath = await GitConfiguration(session.context).sendsPath(for: request.url)
        let missing = await GitHelpers.missing(entries, at: request.url.placeOfURL, session.context)
        return (GitHelpers(entries, for: request), missing, sendsPath)
    }

    /// Returns the answer of the URL's server; nil unless it was requested.
    private func server() async -> ServerAnswer? {
        guard isOnline, let host = request.host, ["https", "http"].contains(request.scheme), request.isTokenPlace else {
            return nil
        }
        let console = session.context.console
        console.progress("asking \(host.text)")
        defer { console.endProgress() }
        return await ServerAnswer.asking(request.url, in: session.context)
    }

    /// The issuer at the URL's host, or the one that its server's answer suggests.
    private var issuer: PluginIssuer? {
        request.host.flatMap(session.registry.issuer(atHost:))
            ?? explanation.server.flatMap(session.registry.issuer(suggestedBy:))
    }

    /// Whether a client secret is missing that would be of use; false if that isn't known.
    private static func lacksSecret(_ decision: Decision) -> Bool {
        decision.match?.issuer?.secretFlows.isEmpty == false && !decision.hasClientSecret
            && decision.storeError == nil
    }

    /// The remembered credential with which `get` would answer; nil if there is none.
    var remembered: Credential? { session.remembered(for: request, isExact: tool != nil) }

    private func password() -> Explanation.Next {
        do throws(KeyringError) {
            guard try storedPassword() != nil else {
                return .init(step: .nothing, text: nothing)
            }
            return .init(step: .password, text: "answer with the password that is stored for it")
        } catch {
            // To make a keyring is only offered for a token.
            let how = error.isAbsent ? nil : unlocking
            return how.flatMap { AvailablePrompts(mayAsk: true, unlocking: $0).unlocking(error) }.map {
                Self.unlock($0, after: error)
            }
                ?? .init(CommandError(error), "print nothing: ")
        }
    }

    /// The result if no rule maps the URL and no password is stored.
    private var nothing: String {
        let refusal = request.isTokenPlace ? "" : ", \(CommandError.unencrypted(request.scheme ?? ""))"
        let reason = "no rule maps the URL\(refusal)"
        guard let tool, !tool.name.isGit else { return "print nothing: \(reason), and no password is stored for it" }
        return "return nothing: \(reason)" + (tool.takesPasswords ? ", and no password is stored for it" : "")
    }

    func storedPassword() throws(KeyringError) -> StoredPassword? {
        guard let query = PasswordQuery(request) else { return nil }
        return try quiet.passwords.get(query, now: explanation.now)
    }

    private func next(_ decision: Decision, _ wanted: TokenRequest) async -> Explanation.Next {
        if let remembered {
            return refusal(of: remembered.fields, remembered.secret)
                ?? .init(step: .answer, text: "answer from memory, at once")
        }
        return next(session.sources.next(decision, for: wanted, await prompts), decision, wanted)
    }

    /// The next step in words.
    private func next(_ step: NextStep, _ decision: Decision, _ wanted: TokenRequest) -> Explanation.Next {
        let use = wanted.exchange == nil ? "answer with it" : "exchange it"
        switch step {
        case .answer(let token):
            let what =
                token.isExchanged
                ? "the credential that your token was exchanged for" : "the stored \(wanted.kindForPeople.name)"
            return refusal(of: token.fields, token.accessToken) ?? .init(step: .answer, text: "answer with \(what)")
        case .exchange:
            return .init(
                step: .exchange,
                text: "exchange the stored \(wanted.kindForPeople.name), without asking you, and answer")
        case .renew(nil):
            return .init(step: .renew, text: "renew the \(wanted.kindForPeople.name), without asking you, and \(use)")
        case .renew(let doubt?): return attempt(doubt, decision, wanted)
        case .authenticate where wanted.source != nil: return session.lookup(in: wanted.source ?? "")
        case .authenticate:
            let name = wanted.identity?.name.displayable(limit: 64) ?? ""
            if wanted.identity?.application != nil, wanted.resourceIndicators.isEmpty,
                decision.match?.issuer?.repositoryScopes != nil
            {
                return .init(
                    CommandError(
                        "each token of \(name) is for a repository, and the request names none",
                        hints: ["give the URL of a repository"]))
            }
            let use = wanted.exchange == nil ? "answer" : "exchange it"
            let by = found.map { " by \($0.displayable(limit: 300))" } ?? ""
            return .init(step: .authenticate, text: "get a token as the identity \(name)\(by), and \(use)")
        case .askBroker(let isSure, let otherwise):
            let next = next(otherwise, decision, wanted)
            return .init(
                step: .askBroker,
                text: "ask the machine's broker, if there is one, for a token, without asking you, and \(use); "
                    + "without one, \(next.text)",
                hints: next.hints, status: isSure ? .done : next.status)
        case .signIn(let flow, _): return signIn(by: flow, wanted)
        case .unlock(let error, let how): return Self.unlock(how, after: error)
        case .fail(.interactionRequired(let error, let account)):
            let failure = failure(.interactionRequired(error, account: account), wanted)
            return .init(failure, after: request.isUnattended ? "" : ", and lanyard can't ask you here")
        case .choose(let error):
            let failure = failure(error, wanted)
            return .init(step: .choose, text: "ask you which account to use: \(failure.message)", hints: failure.hints)
        case .fail(let error): return .init(failure(error, wanted))
        }
    }

    /// Returns the refusal if the credential has several parts and the tool doesn't accept those.
    private func refusal(of parts: [String: Secret], _ secret: Secret) -> Explanation.Next? {
        guard !request.takesFields, !parts.isEmpty, secret.isEmpty else { return nil }
        return .init(
            CommandError(EngineError.severalParts(parts.keys.sorted(), place: request.place), in: session.context))
    }

    private func failure(_ error: AcquisitionError, _ wanted: TokenRequest) -> CommandError {
        CommandError(error, request: wanted, url: request.place, in: session.context)
    }

    /// What the user can be asked while the tool waits.
    private var prompts: AvailablePrompts {
        get async {
            var mayAsk = session.presence.isSomebodyThere && !request.isUnattended
            if mayAsk, let url = request.place {
                mayAsk = await !GitConfiguration(session.context).forbidsPrompts(for: url)
            }
            return AvailablePrompts(
                mayAsk: mayAsk, flows: session.flows, mayChoose: mayAsk && session.presence.hasTerminal,
                unlocking: unlocking)
        }
    }

    /// How the keyring is unlocked if it is in the way; nil if it isn't.
    private var unlocking: Unlocking? {
        if session.presence.keyringAsks(session.store, in: session.context) { return .inWindow }
        return session.sources.mayAskToUnlock(for: request) ? .atTerminal : nil
    }

    private static func unlock(_ how: Unlocking, after error: KeyringError) -> Explanation.Next {
        switch how {
        case .inWindow: .init(step: .unlock, text: "have the keyring ask you to unlock it first")
        case .atTerminal where error.isAbsent:
            .init(step: .unlock, text: "offer to keep secrets in sealed files first")
        case .atTerminal where error.reason == .noDefaultCollection:
            .init(step: .unlock, text: "ask you for the password of a new keyring first")
        case .atTerminal: .init(step: .unlock, text: "ask you for the password of the keyring first")
        }
    }

    /// A renewal that the authority may refuse.
    private func attempt(_ doubt: RenewalDoubt, _ decision: Decision, _ wanted: TokenRequest) -> Explanation.Next {
        let attempt = "try to get an \(wanted.kindForPeople.name) without asking you; "
        switch doubt {
        case .othersSignIn:
            return .init(
                step: .tryRenewal,
                text: attempt + "nobody has signed in to this app, and the authority may refuse it another app's "
                    + "sign-in")
        case .newToRealm:
            let hints = decision.account.map { CommandError.choosingAnother(than: $0, wanted, url: request.place) }
            return .init(
                step: .tryRenewal,
                text: attempt + "\(decision.account?.displayName ?? "the account") has never been at this tenant, "
                    + "which may refuse it",
                hints: [hints].compactMap(\.self))
        }
    }

    private func signIn(by flow: PluginRequest.Flow?, _ wanted: TokenRequest) -> Explanation.Next {
        // The rule's account doesn't have to be named, but the shown URL has no user name.
        let account = request.explicit.account ?? (wanted.account == nil ? wanted.expectedAccount : nil)
        let how =
            switch flow {
            case .browser: "in the browser"
            case .deviceCode: "with a code to enter on any device"
            case .broker: "in the window of the machine's broker"
            default: "on a page whose address you paste"
            }
        return .init(
            step: .signIn, text: "ask you to sign in \(how)",
            hints: [
                Hint("to do it now", run: login(wanted, account))
            ])
    }

    /// Returns the command to sign in; without a URL, it names the scopes.
    private func login(_ wanted: TokenRequest, _ account: String?) -> ShellCommand {
        var asked = wanted
        if account != nil || request.place != nil { asked.account = account }
        return CommandError.login(asked, url: request.place)
    }
}

extension RequestHost {
    /// Whether the hosts are the same or one is below the other, whatever their ports; a `*` stands for any label.
    fileprivate func isRelated(to other: RequestHost) -> Bool {
        let both = [self, other].map { host in host.labels.drop { $0.isSame(as: "*") } }
        let shorter = both[0].count < both[1].count ? both[0] : both[1]
        let longer = both[0].count < both[1].count ? both[1] : both[0]
        guard shorter.count > 1 || longer.count == 1 else { return false }
        return zip(shorter, longer.suffix(shorter.count)).allSatisfy { $0 == $1 || $0 == "*" || $1 == "*" }
    }
}
