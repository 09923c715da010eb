import Addresses
import Rules
import Secrets
import SettingsFile
import Terminal
import TokenAcquisition
import TokenStore

// What people type for an account: its user name or an identifier, or the beginning of one that no other account has.

extension KnownAccounts {
    /// The one account of a name, or that it begins the name of.
    ///
    /// `command` is what the name is an argument of, for the hints.
    ///
    /// - Throws: `Failure` if it has not signed in, or several could be meant.
    func account(typed name: String, command: ShellCommand) throws(Failure) -> KnownAccount {
        guard let account = try meant(by: name, among: all, command) else { throw try missing(name, command) }
        return account
    }

    /// The name as an option takes it: what was typed, unless it only begins that of one account.
    ///
    /// - Throws: `Failure` if it begins the names of several.
    func name(typed name: String) throws(Failure) -> String {
        guard !all.contains(where: { $0.isNamed(name) }), let account = try meant(by: name, among: all, nil) else {
            return name
        }
        return self.name(of: account)
    }

    /// What names an account and no other, as `distinctName`.
    func name(of known: KnownAccount) -> String { all.map(\.account).distinctName(of: known.account) }

    private func meant(
        by name: String, among accounts: [KnownAccount], _ command: ShellCommand?
    ) throws(Failure) -> KnownAccount? {
        let named = accounts.filter { $0.isNamed(name) }
        let found = named.isEmpty ? accounts.filter { $0.account.isBegun(by: name) } : named
        guard found.count <= 1 else { throw Failure(found, typed: name, isWhole: !named.isEmpty, command) }
        return found.first
    }

    /// An account that is not among these: it has signed in elsewhere, is mistyped, or nobody's.
    private func missing(_ name: String, _ command: ShellCommand) throws(Failure) -> Failure {
        let shown = name.displayable(limit: 200)
        if let named, let account = try meant(by: name, among: elsewhere, nil)?.account {
            return Failure(
                "\(account.nameForPeople) has signed in, but not to \(named.place.urlForPeople)",
                hints: [Hint("sign in there", run: named.login(account.nameForPeople))])
        }
        let words = all.flatMap { known in
            let user = known.account.username
            return [user, user.cut(at: "@").map { String($0.0) } ?? user].map { ($0, self.name(of: known)) }
        }
        let nearest = words.map(\.0).nearest(to: name).flatMap { near in words.first { $0.0 == near }?.1 }
        return Failure(
            "the account \(shown) has not signed in",
            hints: [nearest.map { Hint("did you mean", run: "\(command)\(last: $0)") }].compactMap(\.self)
                + [Hint("see", run: "lanyard accounts")])
    }
}

extension NamedPlace {
    /// The command that signs an account in there.
    fileprivate func login(_ account: String) -> ShellCommand {
        guard let url else {
            return "lanyard login --authority \(place.url) --scope SCOPE\(option: "--account", account)"
        }
        return "lanyard login \(url)\(option: "--account", account)"
    }
}

extension AccountRecord {
    /// Whether a word is the beginning of its user name or identifier.
    ///
    /// A whole address is no beginning: somebody@contoso.co is not somebody@contoso.com.
    fileprivate func isBegun(by word: String) -> Bool {
        let start = word.trimmed().lowercased()
        guard !start.isEmpty, !start.isWholeAddress else { return false }
        return [username, homeAccountID].contains { $0.lowercased().utf8.starts(with: start.utf8) }
    }
}

extension String {
    /// Whether it names somebody at a domain that has a dot, so that nothing seems to be missing.
    var isWholeAddress: Bool { cut(atLast: "@").map { $0.1.hasBytes(".") } ?? false }
}

extension Failure {
    /// Several accounts that a name could mean; with the commands that name each, if the name is an argument of one.
    fileprivate init(_ found: [KnownAccount], typed name: String, isWhole: Bool, _ command: ShellCommand?) {
        let accounts = found.map(\.account)
        let shown = name.displayable(limit: 200)
        guard let command else {
            self.init(
                "several accounts begin with \(shown): \(accounts.namesApart.joined(separator: ", "))",
                hints: ["type more of the name"], status: .usage)
            return
        }
        let names = isWhole ? accounts.map(\.homeAccountID) : accounts.namesToType
        let labelled = zip(names, accounts.labels).map { name, label in
            Hint(label.displayable(limit: 100), run: "\(command)\(last: name, limit: 200)")
        }
        self.init(
            "several accounts \(isWhole ? "are called" : "begin with") \(shown)",
            hints: isWhole ? Self.hints(byHostOf: accounts, command) ?? labelled : labelled, status: .usage)
    }

    /// The commands that name each account and its authority, which people know better than an identifier; nil if two accounts
    /// are at one host, or it isn't known where one signed in.
    private static func hints(byHostOf accounts: [AccountRecord], _ command: ShellCommand) -> [Hint]? {
        guard Set(accounts.map { $0.environment.lowercased() }).count == accounts.count else { return nil }
        let hints = accounts.compactMap { account in
            account.authority.map { url in
                Hint(
                    account.environment.displayable(limit: 255),
                    run: "\(command)\(option: "--authority", url, limit: 255)\(last: account.username, limit: 200)")
            }
        }
        return hints.count == accounts.count ? hints : nil
    }
}
