import Forwarding
import Rules
import Terminal
import TokenAcquisition
import TokenStore

/// The signed-in accounts, and what each rule would return.
struct Status {
    /// The socket of the agent that answers instead, in which case the rest is empty; nil if this machine answers by
    /// itself.
    let agent: String?
    /// The error if the agent doesn't answer.
    let silence: Failure?
    /// The accounts; nil if the keyring can't be read.
    let accounts: KnownAccounts?
    let rules: [RuleStatus]
    /// The error if the keyring can't be read.
    let keyring: Failure?
    /// The current time in seconds since 1970.
    let now: Int
    let context: CommandContext

    /// Determines the status with one search of the keyring.
    init(of url: String?, in session: Session) throws(Failure) {
        context = session.context
        now = session.context.now
        agent = session.configuration.agent
        if let agent {
            (accounts, rules, keyring) = (nil, [], nil)
            var problem: AgentSocket.Problem?
            do throws(AgentSocket.Problem) { try AgentSocket(agent).check() } catch { problem = error }
            silence = problem.map { Failure($0, at: session.context.short(agent), path: agent) }
            return
        }
        silence = nil
        var found: StoredRecords?
        var error: StoreError?
        do throws(StoreError) { found = try session.acquirer.allRecords() } catch let problem { error = problem }
        accounts = found.map { KnownAccounts(session.acquirer.accounts(among: $0)) }
        keyring = error.map { Failure($0) }
        if let url {
            let request = try CredentialRequest(url: url)
            let rule = session.configuration.rule(for: request)
            guard try session.resolve(request) != nil else { throw Failure(noRuleMaps: request) }
            rules = [RuleStatus(request, url: request.url, rule: rule, found, error, in: session)]
            return
        }
        rules = session.configuration.rules.map { rule in
            let request = rule.pattern.request
            if let other = session.configuration.rule(for: request), other != rule {
                return RuleStatus(overridden: rule, by: other, session.context)
            }
            return RuleStatus(request, url: rule.pattern.text, rule: rule, found, error, in: session)
        }
    }

    /// The exit status: 0 if everything can be answered silently, 2 if the user is needed, 1 if something is wrong.
    ///
    /// With an agent, it depends only on whether the agent answers.
    var exitStatus: ExitStatus {
        let all = rules.map(\.exitStatus)
        if silence != nil || all.contains(.failed) || keyring != nil && rules.isEmpty { return .failed }
        return all.contains(.interactionRequired) || isNobodySignedIn ? .interactionRequired : .done
    }

    private var isNobodySignedIn: Bool { rules.isEmpty && accounts?.all.isEmpty ?? false }
}
