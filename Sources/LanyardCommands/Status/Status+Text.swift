import JSON
import Rules
import Secrets
import Terminal
import TokenAcquisition
import Tools

extension Status {
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
        if rules.isEmpty { notes.append(Hint("there are no rules; add one for git", run: "lanyard configure git URL")) }
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
            "keyring": JSONValue(keyring?.message),
            "rules": .array(rules.map(\.json)),
            "status": .integer(Int64(exitStatus.rawValue)),
        ]
    }
}

extension RuleStatus {
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
    fileprivate func text(now: Int, but keyring: Failure?) -> String {
        let shown = url.displayable(limit: 300)
        let whose = account.map { "\(shown) as \($0)" } ?? shown
        switch step {
        case .answer: return "\(whose), \(Lifetime(end: expiresOn, now: now).text)\(origin)"
        case .renew: return whose + origin
        case .signIn, .askBroker: return whose
        case .authenticate: return "\(shown), as the identity \(wanted?.identity?.name.displayable(limit: 64) ?? "")"
        case .tryRenewal: return "\(shown), but \(account ?? "")'s sign-in elsewhere is tried first"
        case .choose, .unlock, .fail, .nothing:
            return failure?.message == keyring?.message ? shown : "\(shown): \(failure?.message ?? "")"
        }
    }

    private var origin: String {
        (isBrokered ? ", from the machine's broker" : "")
            + (wanted?.exchange?.name == AWSConsumer.exchange ? ", as keys for lanyard aws only" : "")
    }

    fileprivate var json: JSONValue {
        [
            "broker": .bool(isBrokered),
            "url": .string(url), "file": JSONValue(rule?.file),
            "line": JSONValue(rule?.line), "step": .string(step.rawValue),
            "status": .integer(Int64(exitStatus.rawValue)), "account": JSONValue(account),
            "authority": JSONValue(wanted?.authority),
            "clientId": JSONValue(wanted?.clientID),
            "scopes": JSONValue(strings: wanted?.scopes ?? []),
            "expiresOn": JSONValue(expiresOn),
            "text": JSONValue(failure?.message),
            "hints": JSONValue(strings: failure?.hints.map(\.line) ?? []),
        ]
    }
}
