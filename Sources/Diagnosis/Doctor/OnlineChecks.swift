import Addresses
import Claims
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

/// Checks that need the authorities, which the plugins ask: whether they can be reached and how, whether they know the
/// client, what time it is there, and whether the sign-ins can be renewed.
struct OnlineChecks: Sendable {
    /// The number of authorities to ask at the same time, because each takes a process.
    private static let atOnce = 8
    /// The time after the first renewal during which others may begin.
    private static let patience = Duration.seconds(60)
    /// The time to wait for another lanyard with the same refresh token, in seconds.
    private static let patienceWithOthers = 20.0

    private let session: Session
    private let targets: [OnlineTarget]
    private let isRedacted: Bool

    /// Collects the authorities of the rules and of the configuration.
    ///
    /// For unknownAccountCodes, the authorities' own words are left out, because they may name somebody.
    ///
    /// - Throws: `CommandError` if the configuration has errors.
    init(_ examination: Examination) throws(CommandError) {
        session = try Session(examination.context, options: .init(isInteractive: false))
        targets = OnlineTarget.all(of: session)
        isRedacted = examination.isRedacted
    }

    /// Runs all checks; without a finding for the clock if no authority told the time.
    func findings() async -> [Finding] {
        guard !targets.isEmpty else {
            return [.pass("authority", "no rule and no default names one, so none was asked")]
        }
        let console = session.context.console
        console.progress("asking \(targets.count == 1 ? "the authority" : "\(targets.count) authorities")")
        defer { console.endProgress() }
        let probed = await probes()
        // Several rules may have the same problem.
        return (probed.map(\.finding) + [clock(probed)].compactMap(\.self) + (await renewals(probed))).uniqued
    }

    // MARK: Authorities

    /// The result of asking an authority.
    private struct Probed: Sendable {
        let target: OnlineTarget
        let finding: Finding
        /// Whether a renewal may work.
        var isUsable = true
        /// How far the authority's clock is ahead of this computer's, in seconds.
        var clockLead: Int?
    }

    private func probes() async -> [Probed] {
        await withTaskGroup(of: (Int, Probed).self) { group in
            var found: [Int: Probed] = [:]
            for (index, target) in targets.enumerated() {
                if index >= Self.atOnce, let (index, probed) = await group.next() { found[index] = probed }
                group.addTask { (index, await probe(target)) }
            }
            for await (index, probed) in group { found[index] = probed }
            return targets.indices.compactMap { found[$0] }
        }
    }

    private func probe(_ target: OnlineTarget) async -> Probed {
        do throws(AcquisitionError) {
            let probe = try await session.acquirer.probe(target.request)
            let lead = probe.time.map { $0 - session.context.now }
            return Probed(target: target, finding: answer(probe, target), clockLead: lead)
        } catch {
            if case .plugin(let error, let name) = error, error.code == .unsupported {
                let text = "the plugin \(name) can't check it before a sign-in"
                return Probed(target: target, finding: .pass("authority", "\(target.authority): \(text)"))
            }
            return Probed(target: target, finding: refusal("authority", error, target), isUsable: false)
        }
    }

    private func answer(_ probe: PluginProbe, _ target: OnlineTarget) -> Finding {
        if target.isMachine {
            let found = isRedacted ? "" : probe.summary.map { ": \($0)" } ?? ""
            return .pass("authority", "\(target.authority) answers\(found)")
        }
        let client = probe.checks.contains(.client) ? ", and knows the client ID \(target.clientID)" : ""
        let way =
            probe.proxy.map { " through the proxy \($0.hasBytes("://") ? "" : "http://")\($0.displayable(limit: 271))" }
            ?? ""
        return .pass("authority", "\(target.authority) answers\(way)\(client)")
    }

    /// Returns the reason why an authority, or a renewal there, doesn't work.
    private func refusal(
        _ check: String, _ error: AcquisitionError, _ target: OnlineTarget, of account: AccountRecord? = nil
    ) -> Finding {
        let failure = CommandError(error, request: target.request, url: target.url, in: session.context)
        let who = account.map { "\(name(of: $0)) at " } ?? ""
        var (text, remedies) = (failure.message, failure.hints)
        if let error = error.cause {
            text = isRedacted ? "\(error.redactedText)" : CommandError.words(of: error)
            if error.code == .invalidRequest, !error.reasons.contains(.setting), let place = target.rulePlace {
                remedies.append(Hint("edit \(place)"))
            }
        }
        return Finding(
            check: check, level: error.isHarmless ? .warn : .fail, message: "\(who)\(target.authority): \(text)",
            remedies: isRedacted ? [] : remedies)
    }

    // MARK: The clock

    /// The seconds by which a clock may differ before a warning, and before tokens' times are misread.
    private static let tolerance = (warning: 60, failure: 300)

    private func clock(_ probed: [Probed]) -> Finding? {
        let told = probed.compactMap { probed in probed.clockLead.map { (probed.target, $0) } }
        guard let (target, lead) = told.max(by: { abs($0.1) < abs($1.1) }) else { return nil }
        guard abs(lead) > Self.tolerance.warning else {
            return .pass("clock", "within a minute of that of \(target.authority)")
        }
        let text: Message =
            "this clock is \(abs(lead).timeInWords) \(lead > 0 ? "behind" : "ahead of") that of \(target.authority)"
        let isFailure = abs(lead) > Self.tolerance.failure
        return Finding(
            check: "clock", level: isFailure ? .fail : .warn,
            message: isFailure ? "\(text), so lanyard misjudges when tokens expire" : text, remedies: clockRemedies)
    }

    private var clockRemedies: [Hint] {
        session.context.isInWSL
            ? [Hint("set it by Windows's", run: "sudo hwclock --hctosys")]
            : [Hint(run: "sudo timedatectl set-ntp true"), "in a container, set the clock of its host"]
    }

    // MARK: Renewals

    /// Tries the renewals one after the other while there is time, because two may need the same refresh token.
    private func renewals(_ probed: [Probed]) async -> [Finding] {
        let start = ContinuousClock.now
        var findings: [Finding] = []
        var strange: [OnlineTarget] = []
        for target in probed.filter(\.isUsable).map(\.target) where !target.isMachine {
            guard ContinuousClock.now - start < Self.patience else {
                let text: Message = "\(target.authority): not tried, since the others took more than a minute"
                findings.append(.warn("renewal", text, Hint("try it", run: "lanyard doctor --online")))
                break
            }
            let decision = session.acquirer.decide(target.request)
            // Without a keyring there is nothing to renew; other findings give the reason.
            if decision.storeError != nil { break }
            if case .refuse(let error) = decision.step, decision.account == nil {
                findings.append(refusal("renewal", error, target))
            } else if let account = decision.account {
                findings.append(await renewal(target, decision, of: account))
            } else {
                strange.append(target)
            }
        }
        return findings + [nobody(at: strange)].compactMap(\.self)
    }

    /// Returns one finding for all authorities without a sign-in; nil if there are none.
    private func nobody(at targets: [OnlineTarget]) -> Finding? {
        guard let first = targets.first else { return nil }
        let names = targets.map(\.authority).uniqued
        return .warn("renewal", "nobody has signed in to \(names.joined(separator: ", "))", signIn(first))
    }

    private func renewal(
        _ target: OnlineTarget, _ decision: Decision, of account: AccountRecord
    ) async -> Finding {
        let isBrokered = decision.isBrokered && session.acquirer.broker(for: target.request) != nil
        guard decision.canRenew || isBrokered else { return withoutRefreshToken(account, decision, target) }
        if decision.match?.issuer?.revokesOnRenewal == true, case .answer = decision.step {
            let whose = "\(name(of: account)) at \(target.authority)"
            return .pass("renewal", "\(whose) was not renewed: that would invalidate the token in use")
        }
        do throws(AcquisitionError) {
            let token = try await session.acquirer.renewNow(
                target.request, waitingAtMost: Self.patienceWithOthers)
            let whose = token.account ?? account
            let how = token.source == .broker ? "by the machine's broker" : "without a sign-in"
            return .pass("renewal", "\(name(of: whose)) was renewed at \(target.authority), \(how)")
        } catch {
            return refusal("renewal", error, target, of: account)
        }
    }

    private func withoutRefreshToken(
        _ account: AccountRecord, _ decision: Decision, _ target: OnlineTarget
    ) -> Finding {
        let who = "\(name(of: account)) at \(target.authority)"
        if case .answer(let token) = decision.step {
            guard let end = token.expiresOn else { return .pass("renewal", "\(who): the stored token doesn't expire") }
            let left = (end - session.context.now).timeInWords
            return .warn(
                "renewal", "\(who): the stored token is valid for \(left), and there is no refresh token",
                signIn(target))
        }
        return .warn(
            "renewal", "\(who): there is no refresh token for the client ID \(target.clientID)", signIn(target))
    }

    private func signIn(_ target: OnlineTarget) -> Hint {
        Hint("sign in", run: CommandError.login(target.request, url: target.url))
    }

    private func name(of account: AccountRecord) -> String { isRedacted ? "an account" : account.displayName }
}

/// An authority as asked by one client, with the rule that it comes from.
private struct OnlineTarget: Sendable {
    let request: TokenRequest
    /// A URL that leads to the request; nil if there is none, as for a rule with a wildcard.
    let url: String?
    /// The place of the rule in its file; nil if there is no rule.
    let rulePlace: String?

    /// Whether it isn't an authority, but a plugin that finds identities on this machine.
    var isMachine: Bool { Identity.isMachine(authority: request.authority) }
    var authority: String {
        MachineIdentity.plugin(ofAuthority: request.authority)?.foundThere.text
            ?? request.authority.displayable(limit: 255)
    }
    var clientID: String { request.clientID.displayable(limit: 100) }

    /// Returns the targets of a configuration without duplicates.
    static func all(of session: Session) -> [OnlineTarget] {
        let byRules = session.configuration.rules.filter { $0.identity == nil }.compactMap { rule in
            session.configuration.request(by: rule).flatMap { session.settled($0, rule) }.map { request in
                let url = rule.pattern.hasWildcard ? nil : rule.pattern.text
                return OnlineTarget(request: request, url: url, rulePlace: rule.place(session.context))
            }
        }
        var targets: [OnlineTarget] = []
        for target in byRules + byDefault(session) + ofMachine(session)
        where !targets.contains(where: { $0.question == target.question }) {
            targets.append(target)
        }
        return targets
    }

    /// Returns one identity of each plugin that finds identities in use on this machine; all of them ask there.
    private static func ofMachine(_ session: Session) -> [OnlineTarget] {
        let configuration = session.configuration
        let named = configuration.rules.compactMap(\.identity) + [configuration.defaultIdentity].compactMap(\.self)
        let requests = (configuration.identities.map(\.name) + named).compactMap { name -> TokenRequest? in
            var asked = CredentialRequest()
            asked.explicit.identity = name
            asked.explicit.scopes = (try? session.ownScopes(of: name)) ?? []
            return try? session.resolve(asked)
        }
        var seen: Set<String> = []
        return requests.filter { Identity.isMachine(authority: $0.authority) && seen.insert($0.authority).inserted }
            .map { OnlineTarget(request: $0, url: nil, rulePlace: nil) }
    }

    /// Returns the target of the hosts that a plugin knows and no rule maps; the first host stands for all.
    private static func byDefault(_ session: Session) -> [OnlineTarget] {
        guard session.configuration.mapsKnownHosts else { return [] }
        return session.registry.gitHosts.prefix(1).compactMap { host in
            let url = "https://\(host)"
            guard let asked = try? CredentialRequest(url: url), let resolved = try? session.resolve(asked),
                let request = session.settled(resolved), case .wellKnownHost = request.origin
            else { return nil }
            return OnlineTarget(request: request, url: url, rulePlace: nil)
        }
    }

    /// What the authority is asked; another target with the same question would get the same answer.
    private var question: [String?] {
        [request.authority, request.kind, request.clientID, request.account, request.userHint] + request.scopes
    }
}

extension Session {
    /// Returns the request with its client's ID; nil if no plugin serves the authority, or if the client isn't valid,
    /// which the rule's finding reports.
    fileprivate func settled(_ request: TokenRequest, _ rule: Rule? = nil) -> TokenRequest? {
        guard let match = registry.match(authority: request.authority, kind: request.kind, isConfigured: true),
            let id = try? configuration.clientID(request.clientID, at: match)
        else { return nil }
        var settled = request
        settled.clientID = id
        settled.checkUserHint(at: match.issuer)
        let exchange = rule.flatMap {
            registry.exchange(named: $0.exchange, forHost: $0.pattern.host.text, at: match)
        }
        if settled.scopes.isEmpty { settled.scopes = exchange?.scopes ?? [] }
        if settled.scopes.isEmpty { settled.scopes = match.issuer?.scopes ?? [] }
        return settled
    }
}

extension AcquisitionError {
    /// The plugin's error; nil if it wasn't asked.
    fileprivate var cause: PluginError? {
        switch self {
        case .plugin(let error, _): error
        case .interactionRequired(let error, _): error
        default: nil
        }
    }

    /// Whether nothing is broken: it will be over soon, or the user has yet to sign in or to choose.
    fileprivate var isHarmless: Bool {
        switch self {
        case .busy, .noSuchAccount, .ambiguousAccount: true
        default: cause?.code == .throttled
        }
    }
}

extension PluginError {
    /// The words for unknownAccountCodes: only the codes of the authority's error, whose text may name somebody.
    var redactedText: String {
        guard let error else { return message.displayable(limit: 800) }
        return "the authority refuses: "
            + (errorCodes.isEmpty ? [error] : errorCodes).joined(separator: ", ").displayable(limit: 300)
    }
}
