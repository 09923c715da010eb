import Addresses
import Rules
import Secrets
import SettingsFile
import Terminal
import TokenAcquisition
import TokenStore

// The user can name an account by its user name, an identifier, or the unambiguous beginning of one.

extension KnownAccounts {
    /// Returns the one account with a name or the beginning of one.
    ///
    /// `command` is the command that takes the name as its argument, for hints.
    ///
    /// - Throws: `Failure` if no such account has signed in, or if several match.
    func account(typed name: String, command: ShellCommand) throws(Failure) -> KnownAccount {
        guard let account = try meant(by: name, among: all, command) else { throw try missing(name, command) }
        return account
    }

    /// Returns the name to pass to an option: the typed one, unless it is only the beginning of one account's name.
    ///
    /// - Throws: `Failure` if it is the beginning of several accounts' names.
    func name(typed name: String) throws(Failure) -> String {
        guard !all.contains(where: { $0.isNamed(name) }), let account = try meant(by: name, among: all, nil) else {
            return name
        }
        return self.name(of: account)
    }

    /// Returns a name that only this account has (`distinctName`).
    func name(of known: KnownAccount) -> String { all.map(\.account).distinctName(of: known.account) }

    private func meant(
        by name: String, among accounts: [KnownAccount], _ command: ShellCommand?
    ) throws(Failure) -> KnownAccount? {
        let named = accounts.filter { $0.isNamed(name) }
        let found = named.isEmpty ? accounts.filter { $0.account.isBegun(by: name) } : named
        guard found.count <= 1 else { throw Failure(found, typed: name, isWhole: !named.isEmpty, command) }
        return found.first
    }

    /// Returns the error for an account that isn't in `all`: it signed in elsewhere, or not at all.
    private func missing(_ name: String, _ command: ShellCommand) throws(Failure) -> Failure {
        let shown = name.displayable(limit: 200)
        if let named, let account = try meant(by: name, among: elsewhere, nil)?.account {
            return Failure(
                "\(account.nameForPeople) has signed in, but not to \(named.place.urlForPeople)",
                hints: [Hint("sign in there", run: named.login(account.nameForPeople))])
        }
        let typed = name.personAndDomain
        // Another person's name, however near, is no slip of the fingers; swapped letters are.
        let nearest = all.first { known in
            let own = known.account.username.personAndDomain
            guard own.person.utf8.sorted() == typed.person.utf8.sorted() else { return false }
            guard let domain = typed.domain else { return true }
            return own.domain.map { [$0].nearest(to: domain) != nil } ?? false
        }
        let meant = nearest.map { Hint("did you mean", run: "\(command)\(last: self.name(of: $0))") }
        return Failure(
            "the account \(shown) has not signed in",
            hints: [meant, Hint("see", run: "lanyard accounts")].compactMap(\.self))
    }
}

extension NamedPlace {
    /// Returns the command that signs an account in there.
    fileprivate func login(_ account: String) -> ShellCommand {
        guard let url else {
            return "lanyard login --authority \(place.url) --scope SCOPE\(option: "--account", account)"
        }
        return "lanyard login \(url)\(option: "--account", account)"
    }
}

extension AccountRecord {
    /// Whether a word is the beginning of the user name or identifier.
    ///
    /// A whole address doesn't count as a beginning: somebody@contoso.co is not somebody@contoso.com.
    fileprivate func isBegun(by word: String) -> Bool {
        let start = word.trimmed().lowercased()
        guard !start.isEmpty, !start.isWholeAddress else { return false }
        return [username, homeAccountID].contains { $0.lowercased().utf8.starts(with: start.utf8) }
    }
}

extension String {
    fileprivate var personAndDomain: (person: String, domain: String?) {
        let name = lowercased()
        return name.cut(at: "@").map { (String($0.0), String($0.1)) } ?? (name, nil)
    }

    /// Whether it is an address whose domain has a dot, so that nothing seems to be missing.
    var isWholeAddress: Bool { cut(atLast: "@").map { $0.1.hasBytes(".") } ?? false }
}

extension Failure {
    /// Creates the error for a name that several accounts match; if the name is an argument of a command, with that
    /// command for each account.
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

    /// Returns commands that name each account by its host, which users know better than an identifier; nil if two
    /// accounts are at the same host, or if an account's authority isn't known.
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
