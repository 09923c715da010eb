import CredentialEngine
import Rules
import Terminal
import TokenAcquisition
import TokenStore

/// What a rule or URL would return now, judging by what is stored.
struct RuleStatus {
    /// The first thing that `get` would do, with the names of `explain`, which shows more.
    enum Step: String {
        case answer
        case renew
        case authenticate
        case tryRenewal = "try-renewal"
        /// Ask the machine's broker, which may have a sign-in.
        case askBroker = "ask-broker"
        case signIn = "sign-in"
        case choose
        case unlock
        case fail
        /// Do nothing, because another rule is for the same URLs.
        case nothing
    }

    /// The URL, or the rule's pattern.
    let url: String
    /// The rule; nil if a plugin knows the URL's host.
    let rule: Rule?
    private(set) var wanted: TokenRequest?
    private(set) var step: Step
    /// The account's user name; nil if no account, or more than one, could be meant.
    private(set) var account: String?
    /// The expiry of the stored token, in seconds since 1970; nil if there is none or its expiry isn't known.
    private(set) var expiresOn: Int?
    /// Whether the token came from the machine's broker, or the next one will.
    private(set) var isBrokered = false
    /// What is in the way.
    private(set) var failure: Failure?

    /// Judges by what is stored; if the keyring can't be read, `records` is nil and `error` is the reason.
    init(
        _ request: CredentialRequest, url: String, rule: Rule?, _ records: StoredRecords?, _ error: StoreError?,
        in session: Session
    ) {
        self.url = url
        self.rule = rule
        step = .fail
        do throws(Failure) {
            guard let wanted = try session.resolve(request) else { throw Failure(noRuleMaps: request) }
            self.wanted = wanted
            if let records {
                settle(session.acquirer.decide(wanted, among: records), wanted, session)
            } else if wanted.identity != nil {
                settle(session.acquirer.decide(wanted), wanted, session)
            } else if let remembered = session.remembered(for: request) {
                step = .answer
                account = remembered.username
                expiresOn = remembered.expiresOn
            } else {
                let error = error ?? StoreError(.broken)
                let mayUnlock = AvailablePrompts.all.unlocking(error) != nil
                refuse(mayUnlock ? .unlock : .fail, .store(error), wanted, session)
            }
        } catch {
            failure = error
        }
    }

    /// Creates the status of a rule that never applies.
    init(overridden rule: Rule, by other: Rule, _ context: CommandContext) {
        url = rule.pattern.text
        self.rule = rule
        step = .nothing
        failure = Failure("the rule at \(other.place(context)) is for the same URLs")
    }

    private mutating func settle(_ decision: Decision, _ wanted: TokenRequest, _ session: Session) {
        account = decision.account?.nameForPeople
        isBrokered = decision.isBrokered
        switch session.sources.next(decision, for: wanted, .all) {
        case .answer(let token):
            step = .answer
            expiresOn = token.expiresOn
        case .exchange, .renew(nil), .askBroker(isSure: true, _): step = .renew
        case .renew: step = .tryRenewal
        case .authenticate: step = .authenticate
        case .askBroker: refuse(.askBroker, .interactionRequired(nil, account: decision.account), wanted, session)
        case .signIn(_, let error): refuse(.signIn, error, wanted, session)
        case .choose(let error): refuse(.choose, error, wanted, session)
        case .unlock(let error, _): refuse(.unlock, .store(error), wanted, session)
        case .fail(let error): refuse(.fail, error, wanted, session)
        }
    }

    private mutating func refuse(
        _ step: Step, _ error: AcquisitionError, _ wanted: TokenRequest, _ session: Session
    ) {
        self.step = step
        failure = Failure(error, request: wanted, url: url, in: session.context)
    }

    /// The exit status for this step.
    var exitStatus: ExitStatus {
        switch step {
        case .answer, .renew, .authenticate, .nothing: .done
        case .tryRenewal, .askBroker, .signIn, .choose, .unlock: .interactionRequired
        case .fail: .failed
        }
    }
}
