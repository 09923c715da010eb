package import ArgumentParser
package import CommandKit
import CredentialEngine
import Forwarding
import JSON
import Keyring
import Model
import Rules
import Secrets
import Terminal
import TokenAcquisition
import Tools

package struct StatusCommand: Command {
    package static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show who is signed in, and what each rule gives.",
        discussion: """
            With --accounts, lists only the accounts, in full: `*` marks those in use, `-` the one that `lanyard use -` goes \
            back to. USED FOR lists the authorities that an account was chosen for. Accounts that only the machine's broker has \
            come last.

            Uses only what is stored: starts no plugin, asks and unlocks nothing. Exit status 0: every rule would \
            answer silently; 2: a user is needed, to sign in or to unlock the keyring; 1: something is wrong.
            """)

    package static let examples: KeyValuePairs = [
        "See who is signed in, and what each rule would return": "lanyard status",
        "See all about the accounts": "lanyard status --accounts",
        "Sign in before a long job starts, if that is necessary": """
        lanyard status \(Example.url) ||
          lanyard login \(Example.url)
        """,
    ]

    @Argument(help: "Only what this URL gets; with --accounts, only accounts of its authority.")
    package var url: String?

    @Flag(help: "List only the accounts.")
    package var accounts = false

    @Flag(help: "With --accounts, also show what each account's ID tokens say.")
    package var claims = false

    @OptionGroup package var place: AuthorityOptions

    @Flag(help: "Print JSON.")
    package var json = false

    package mutating func validate() throws {
        if claims, !accounts { throw ValidationError("--claims is for --accounts") }
        if place.authority != nil, !accounts { throw ValidationError("--authority is for --accounts") }
    }

    package mutating func run(in context: CommandContext) async throws {
        guard !accounts else {
            let session = try Session(context)
            return try await session.listAccounts(
                at: try place.place(url, in: session), inJSON: json, withClaims: claims)
        }
        let timing = DueRenewals.timing(in: context)
        let status = try Status(of: url, in: Session(context, options: .init(isInteractive: false, timing: timing)))
        let console = context.console
        if json {
            console.print(json: status.json)
        } else {
            for line in status.lines(columns: Console.columns) { console.print(line) }
            for note in status.notes { console.note(note) }
            for hint in status.hints { console.hint(hint) }
        }
        if status.exitStatus != .done { throw ExitCode(status.exitStatus.rawValue) }
    }

    package init() {}
}

/// The signed-in accounts, and what each rule would return.
struct Status {
    /// The socket of the agent that answers instead, in which case the rest is empty; nil if this machine answers by
    /// itself.
    let agent: String?
    /// The error if the agent doesn't answer.
    let silence: CommandError?
    /// The accounts; nil if the keyring can't be read.
    let accounts: KnownAccounts?
    let rules: [RuleStatus]
    /// The error if the keyring can't be read.
    let keyring: CommandError?
    /// The current time in seconds since 1970.
    let now: Int
    let context: CommandContext

    /// Determines the status with one search of the keyring.
    init(of url: String?, in session: Session) throws(CommandError) {
        context = session.context
        now = session.context.now
        agent = session.configuration.agent
        if let agent {
            (accounts, rules, keyring) = (nil, [], nil)
            var problem: AgentError?
            do throws(AgentError) { try AgentSocket(agent).check() } catch { problem = error }
            silence = problem.map { CommandError($0, at: session.context.short(agent), path: agent) }
            return
        }
        silence = nil
        var found: StoredRecords?
        var error: KeyringError?
        do throws(KeyringError) { found = try session.acquirer.allRecords() } catch let problem { error = problem }
        accounts = found.map { KnownAccounts(session.acquirer.accounts(among: $0)) }
        keyring = error.map { CommandError($0) }
        if let url {
            let request = try CredentialRequest(url: url)
            let rule = session.configuration.rule(for: request)
            guard try session.resolve(request) != nil else { throw CommandError(noRuleMaps: request) }
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

    /// Returns the accounts and then the rules, laid out for a number of columns.
    func lines(columns: Int?) -> [String] {
        if let agent {
            let text =
                "this machine asks the agent at \(context.short(agent)); accounts and rules are on that one's machine"
            return [text.wrapped(columns: columns, indent: 0, from: 0)]
        }
        var lines: [String] = []
        if let accounts, !accounts.all.isEmpty { lines = AccountTable(accounts).lines(width: columns) }
        if !lines.isEmpty, !rules.isEmpty { lines.append("") }
        let rows = rules.map { [$0.word, $0.text(now: now, but: keyring)] }
        return lines + Table(rows).wrapped(columns: columns, indent: 0)
    }

    /// Other notes for the user.
    var notes: [Hint] {
        guard agent == nil else { return [silence.map { Hint($0.message) }].compactMap(\.self) }
        var notes: [Hint] = []
        if accounts?.all.isEmpty == true { notes.append("nobody is signed in") }
        if let keyring { notes.append(Hint(keyring.message)) }
        if rules.isEmpty { notes.append(.addingRule(after: "there are no rules; ")) }
        return notes
    }

    /// The remedies, one of each kind, for the first rule that needs it.
    var hints: [Hint] {
        let all =
            (silence?.hints ?? []) + (keyring?.hints ?? [])
            + rules.filter { $0.exitStatus != .done }.flatMap { $0.failure?.hints ?? [] }
        var kinds: Set<String> = []
        return all.filter { kinds.insert($0.text.isEmpty ? $0.line : $0.text).inserted }
    }

    /// The status as JSON, documented in lanyard-status(1).
    var json: JSONValue {
        [
            "agent": JSONValue(agent),
            "accounts": accounts.map { known in JSONValue.array(known.byUse.map { $0.json(among: known) }) } ?? .null,
            "keyring": JSONValue(keyring?.message.text),
            "rules": .array(rules.map(\.json)),
            "status": .integer(Int64(exitStatus.rawValue)),
        ]
    }
}

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
    private(set) var failure: CommandError?

    /// Judges by what is stored; if the keyring can't be read, `records` is nil and `error` is the reason.
    init(
        _ request: CredentialRequest, url: String, rule: Rule?, _ records: StoredRecords?, _ error: KeyringError?,
        in session: Session
    ) {
        self.url = url
        self.rule = rule
        step = .fail
        do throws(CommandError) {
            guard let wanted = try session.resolve(request) else { throw CommandError(noRuleMaps: request) }
            self.wanted = wanted
            if let records {
                tell(session.acquirer.decide(wanted, among: records), wanted, session)
            } else if wanted.identity != nil || wanted.source != nil {
                tell(session.acquirer.decide(wanted), wanted, session)
            } else if let remembered = session.remembered(for: request) {
                step = .answer
                account = remembered.username
                expiresOn = remembered.expiresOn
            } else {
                let error = error ?? KeyringError(.broken)
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
        failure = CommandError("the rule at \(other.place(context)) is for the same URLs")
    }

    private mutating func tell(_ decision: Decision, _ wanted: TokenRequest, _ session: Session) {
        account = decision.account?.displayName
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
        failure = CommandError(error, request: wanted, url: url, in: session.context)
    }

    /// The exit status for this step.
    var exitStatus: ExitStatus {
        switch step {
        case .answer, .renew, .authenticate, .nothing: .done
        case .tryRenewal, .askBroker, .signIn, .choose, .unlock: .interactionRequired
        case .fail: .failed
        }
    }

    fileprivate var word: String {
        switch step {
        case .answer: "ready"
        case .renew: "renews"
        case .authenticate: "asks"
        // A broker may have a sign-in, but status asks none; nor can it know whether another sign-in of the account serves.
        case .signIn, .askBroker, .tryRenewal: "signed out"
        case .choose: "choose"
        case .unlock: "waits"
        case .fail: "fails"
        case .nothing: "unused"
        }
    }

    /// `keyring` is what is wrong with the keyring, which is told once for all rules.
    fileprivate func text(now: Int, but keyring: CommandError?) -> String {
        let shown = url.displayable(limit: 300)
        let whose = account.map { "\(shown) as \($0)" } ?? shown
        switch step {
        case .answer: return "\(whose), \(Moment.remaining(until: expiresOn, now: now))\(origin)"
        case .renew: return whose + origin
        case .signIn, .askBroker: return whose
        case .authenticate where wanted?.source != nil:
            return "\(shown), looked up in \(wanted?.source?.displayable(limit: 200) ?? "")"
        case .authenticate: return "\(shown), as the identity \(wanted?.identity?.name.displayable(limit: 64) ?? "")"
        case .tryRenewal: return "\(shown), but \(account ?? "")'s sign-in elsewhere is tried first"
        case .choose, .unlock, .fail, .nothing:
            return failure?.message == keyring?.message ? shown : "\(shown): \(failure?.message ?? "")"
        }
    }

    private var origin: String {
        (wanted?.token == .id ? ", the ID token" : "") + (isBrokered ? ", from the machine's broker" : "")
            + (AWSProtocol.givesKeys(wanted?.exchange?.name) ? ", as keys for lanyard aws and exec only" : "")
    }

    fileprivate var json: JSONValue {
        [
            "broker": .bool(isBrokered),
            "url": .string(url), "file": JSONValue(rule?.file),
            "line": JSONValue(rule?.line), "step": .string(step.rawValue),
            "status": .integer(Int64(exitStatus.rawValue)), "account": JSONValue(account),
            "authority": JSONValue(wanted?.authority),
            "clientId": JSONValue(wanted?.clientID),
            "scopes": JSONValue(strings: wanted?.scopes ?? []), "token": JSONValue(wanted?.token.rawValue),
            "exchangeParameters": .object((wanted?.exchange?.parameters ?? [:]).mapValues(JSONValue.string)),
            "expiresOn": JSONValue(expiresOn), "isEndless": .bool(step == .answer && expiresOn == nil),
            "text": JSONValue(failure?.message.text),
            "hints": JSONValue(strings: failure?.hints.map(\.line) ?? []),
        ]
    }
}
