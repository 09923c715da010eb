import AuthorityPlugin
import CredentialProtocol
import Rules
import TokenAcquisition
import TokenStore

/// The accounts that have signed in, and which of them the person chose.
struct KnownAccounts {
    /// The accounts, by user name.
    let all: [KnownAccount]
    /// Those of them that were chosen, the last one first.
    let recent: [KnownAccount]

    init(_ all: [KnownAccount], history: [SelectedAccount]) {
        self.all = all
        var seen: [KnownAccount] = []
        for selected in history {
            guard let account = all.first(where: { $0.isSelected(selected) }), !seen.contains(account) else { continue }
            seen.append(account)
        }
        recent = seen
    }

    /// The account that is used where nothing names one: the one chosen last, else the only one.
    var current: KnownAccount? { recent.first ?? (all.count == 1 ? all.first : nil) }

    /// The account that was used before: the one chosen before the current, else the only other.
    var previous: KnownAccount? {
        guard let current, recent.count < 2 else { return recent.dropFirst().first }
        let others = all.filter { $0 != current }
        return others.count == 1 ? others.first : nil
    }

    /// The accounts in the order that a person is asked about them.
    var byUse: [KnownAccount] { recent + all.filter { !recent.contains($0) } }

    /// Those that an authority takes.
    func at(_ place: AuthorityPlace?) -> KnownAccounts {
        guard let place else { return self }
        func isTaken(_ known: KnownAccount) -> Bool { known.profiles.contains(where: place.owns) }
        return KnownAccounts(all: all.filter(isTaken), recent: recent.filter(isTaken))
    }

    /// The one account of a name.
    ///
    /// - Throws: `Failure` where it has not signed in, or several have the name.
    func account(named name: String, command: ShellCommand) throws(Failure) -> KnownAccount {
        let found = all.filter { $0.isNamed(name) }
        guard found.count <= 1 else { throw Failure(found, named: name, command: command) }
        guard let account = found.first else {
            throw Failure(
                "the account \(name.displayable(limit: 200)) has not signed in",
                hints: [Hint("see", run: "lanyard accounts")])
        }
        return account
    }

    private init(all: [KnownAccount], recent: [KnownAccount]) {
        self.all = all
        self.recent = recent
    }
}

extension Failure {
    /// Several accounts of one name.
    fileprivate init(_ found: [KnownAccount], named name: String, command: ShellCommand) {
        let accounts = found.map(\.account)
        self.init(
            "several accounts are called \(name.displayable(limit: 200))",
            hints: zip(accounts, accounts.labels).map { account, label in
                Hint(label.displayable(limit: 100), run: "\(command)\(last: account.homeAccountID, limit: 200)")
            }, status: .usage)
    }
}

extension AccountRecord {
    /// The user name, or the identifier where there is none, fit to show.
    var nameForPeople: String { (username.isEmpty ? homeAccountID : username).displayable(limit: 200) }
}

extension [AccountRecord] {
    /// The accounts' names, those of the same name told apart by kind and identifier.
    var namesApart: [String] {
        zip(self, namesToType).map { account, name in
            let shown = account.nameForPeople
            return name == shown ? shown : "\(shown) (\(account.kind.text), \(name))"
        }
    }

    /// What names each account and no other: its user name, or its identifier where others have that name.
    var namesToType: [String] {
        map { account in
            let namesakes = count { $0.username.lowercased() == account.username.lowercased() }
            return namesakes > 1 ? account.homeAccountID.displayable(limit: 200) : account.nameForPeople
        }
    }
}

extension Session {
    /// Every account, and which of them the person chose.
    func accounts() throws(Failure) -> KnownAccounts {
        let all = try acquiring { () throws(AcquisitionError) in try acquirer.allAccounts() }
        return KnownAccounts(all, history: selection?.read() ?? [])
    }

    /// Makes an account the current one.
    func select(_ account: AccountRecord) throws(Failure) {
        guard let selection, let selected = SelectedAccount(account) else {
            throw Failure(
                "there is no place to keep the choice of an account", hints: ["set HOME or XDG_STATE_HOME"])
        }
        do throws(SelectionError) {
            try selection.select(selected)
        } catch {
            throw Failure(
                "\(error.path.displayable(limit: 300)) cannot be used: \(error.reason)",
                hints: [Hint("see who owns it", run: "ls -ld\(last: error.path)")])
        }
    }

    /// Runs what has no request to name in its error.
    func acquiring<Result>(_ body: () throws(AcquisitionError) -> Result) throws(Failure) -> Result {
        do {
            return try body()
        } catch .store(let error) {
            throw Failure(error)
        } catch {
            throw Failure("the store could not be read")
        }
    }
}
