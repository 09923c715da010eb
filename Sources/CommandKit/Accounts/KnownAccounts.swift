import Addresses
import CredentialEngine
import Files
package import Keyring
import Model
import PluginWire
import Secrets
import SettingsFile
package import Terminal
package import TokenAcquisition

/// The accounts that have signed in, and which of them is used where.
package struct KnownAccounts {
    /// The accounts, sorted by user name.
    package let all: [KnownAccount]
    /// The account that is used if nothing names one: at the named authority, or else at any.
    ///
    /// Nil if it depends on the authority or isn't known.
    package let current: KnownAccount?
    /// The choice that `use -` restores.
    package let previous: Previous?
    /// The authority to which the accounts are limited; nil for all.
    package let named: NamedAuthority?
    /// The accounts that don't belong to the named authority.
    package let elsewhere: [KnownAccount]
    /// The accounts that only a broker of this machine has; nothing chooses among them.
    package var ofMachine: [KnownAccount] = []
    private let overview: AccountOverview
    /// The account in use at the named authority, or at each authority that has a choice of its own.
    private let uses: [(account: KnownAccount, place: AuthorityKey)]
    /// The account that is used at all other authorities.
    private let usedElsewhere: KnownAccount?
    private let recent: [KnownAccount]

    /// An earlier choice of an account; without an authority, for all of them.
    package typealias Previous = (account: KnownAccount, place: AuthorityKey?)

    /// Considers all authorities, or only the named one.
    package init(_ overview: AccountOverview, at named: NamedAuthority? = nil) {
        let here = named.map { overview.selection(at: $0.place, clientID: $0.clientID) }
        let all = here.map { here in
            overview.accounts.filter { known in here.accounts.contains { overview.account($0) == known } }
        }
        self.all = all ?? overview.accounts
        self.overview = overview
        self.named = named
        elsewhere = all.map { all in overview.accounts.filter { !all.contains($0) } } ?? []
        let chosen = overview.history.compactMap { selected in
            overview.accounts.first { $0.isSelected(selected) }.map { (selected: selected, account: $0) }
        }
        recent = chosen.map(\.account).uniqued.filter(self.all.contains)
        let places = named.map { [$0.place] } ?? overview.places
        uses = places.compactMap { place in
            let used = here.map(\.used) ?? overview.selection(at: place).used
            return used.flatMap(overview.account).map { ($0, place) }
        }
        let onlyOne = self.all.count == 1 ? self.all.first : nil
        usedElsewhere = here != nil ? nil : chosen.first { $0.selected.authority == nil }?.account ?? onlyOne
        let users = uses.map(\.account).uniqued
        current = usedElsewhere ?? (users.count == 1 ? users.first : nil)
        previous = Self.previous(overview, chosen, named, current: current)
    }

    private static func previous(
        _ overview: AccountOverview, _ chosen: [(selected: SelectedAccount, account: KnownAccount)],
        _ named: NamedAuthority?, current: KnownAccount?
    ) -> Previous? {
        let last = chosen.first
        let place = named?.place ?? last.flatMap { overview.key(of: $0.selected) }
        if let place {
            let before = overview.selection(at: place, clientID: named?.clientID).previous
            return before.flatMap(overview.account).map { ($0, place) }
        }
        let before = chosen.first { $0.account != last?.account }?.account
        let others = overview.accounts.filter { $0 != last?.account ?? current }
        let isOnlyOther = others.count == 1 && overview.accounts.count == 2
        return (before ?? (isOnlyOther ? others.first : nil)).map { ($0, nil) }
    }

    /// Returns a realm's name for users: its name if known, else its ID, shortened to the first digits of a UUID.
    package func displayName(ofRealm id: String) -> String {
        (overview.name(ofRealm: id) ?? (id.isUUID ? String(id.prefix(8)) : id)).displayable(limit: 60)
    }

    /// Returns the domain of a realm; nil if it isn't known.
    package func domain(ofRealm id: String) -> String? { overview.name(ofRealm: id) }

    /// The accounts in the order in which the user is asked about them, those of the machine last.
    package var byUse: [KnownAccount] { recent + all.filter { !recent.contains($0) } + ofMachine }

    /// Returns the only authority that accepts an account; nil if others may.
    package func issuer(of account: AccountRecord) -> AuthorityKey? { overview.issuer(of: account) }

    /// Whether an account is used anywhere.
    package func isUsed(_ account: KnownAccount) -> Bool {
        account == usedElsewhere || uses.contains { $0.account == account }
    }

    /// Whether an account is used at all authorities without a choice of their own.
    package func isUsedElsewhere(_ account: KnownAccount) -> Bool { account == usedElsewhere }

    /// Returns the authorities with a choice of their own at which an account is used.
    package func places(of account: KnownAccount) -> [AuthorityKey] {
        uses.filter { $0.account == account }.map(\.place)
    }

    /// Returns the authorities on the account's own hosts at which other accounts are used.
    package func places(butFor account: KnownAccount) -> [(account: KnownAccount, place: AuthorityKey)] {
        let hosts = Set(account.profiles.map { $0.environment.lowercased() })
        return uses.filter { $0.account != account && !hosts.isDisjoint(with: $0.place.aliases) }
    }

    /// Returns the one account with a name or the beginning of one.
    ///
    /// `command` is the command that takes the name as its argument, for hints.
    ///
    /// - Throws: `CommandError` if no such account has signed in, or if several match.
    package func account(typed name: String, command: ShellCommand) throws(CommandError) -> KnownAccount {
        guard let account = try meant(by: name, among: all, command) else { throw try missing(name, command) }
        return account
    }

    /// Returns the name to pass to an option: the typed one, unless it is only the beginning of one account's name.
    ///
    /// - Throws: `CommandError` if it is the beginning of several accounts' names.
    package func name(typed name: String) throws(CommandError) -> String {
        guard !all.contains(where: { $0.isNamed(name) }), let account = try meant(by: name, among: all, nil) else {
            return name
        }
        return self.name(of: account)
    }

    /// Returns a name that only this account has (`distinctName`).
    package func name(of known: KnownAccount) -> String { all.map(\.account).distinctName(of: known.account) }

    private func meant(
        by name: String, among accounts: [KnownAccount], _ command: ShellCommand?
    ) throws(CommandError) -> KnownAccount? {
        let named = accounts.filter { $0.isNamed(name) }
        let found = named.isEmpty ? accounts.filter { $0.account.isBegun(by: name) } : named
        guard found.count <= 1 else { throw CommandError(found, typed: name, isWhole: !named.isEmpty, command) }
        return found.first
    }

    /// Returns the error for an account that isn't in `all`: it signed in elsewhere, or not at all.
    private func missing(_ name: String, _ command: ShellCommand) throws(CommandError) -> CommandError {
        if let named, let account = try meant(by: name, among: elsewhere, nil)?.account {
            return CommandError(
                "\(account.displayName) has signed in, but not to \(named.place.displayedURL)",
                hints: [Hint("sign in there", run: named.login(account.displayName))])
        }
        let typed = name.userAndDomain
        // Another user's name, however near, is no slip of the fingers; swapped letters are.
        let nearest = all.first { known in
            let own = known.account.username.userAndDomain
            guard own.user.utf8.sorted() == typed.user.utf8.sorted() else { return false }
            guard let domain = typed.domain else { return true }
            return own.domain.map { [$0].nearest(to: domain) != nil } ?? false
        }
        let meant = nearest.map { Hint("did you mean", run: "\(command)\(last: self.name(of: $0))") }
        return CommandError(
            "the account \(name) has not signed in",
            hints: [meant, Hint("see", run: "lanyard status --accounts")].compactMap(\.self))
    }
}

extension Session {
    /// Selects an account for an authority, or for all that accept it.
    package func select(_ account: AccountRecord, at place: AuthorityKey?) throws(CommandError) {
        guard let selection, let selected = SelectedAccount(account, authority: place?.path) else {
            throw CommandError(
                "there is no folder to store the chosen account in", hints: ["set HOME or XDG_STATE_HOME"])
        }
        do throws(FileError) {
            try selection.select(selected)
        } catch {
            let folder = selection.folder
            throw CommandError(
                "\(folder) cannot be used: \(error.reason)",
                hints: [error.hint("ls -ld\(last: folder)", in: folder)])
        }
    }
}

// The user can name an account by its user name, an identifier, or the unambiguous beginning of one.

extension NamedAuthority {
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

    /// The user name, or else the identifier, fit to show.
    package var displayName: String { (username.isEmpty ? homeAccountID : username).displayable(limit: 200) }

    /// The home tenant; nil if there is none, or if the host has only one realm.
    package var tenant: String? {
        homeRealm.flatMap { $0 == PluginProtocol.realmOfHost ? nil : $0.percentDecoded ?? $0 }
    }

    /// The kind of account according to its plugin, and the policy that it belongs to.
    package var displayedKind: String {
        [(kind ?? "other").displayable(limit: 40), policy?.displayable(limit: 60)].compactMap(\.self)
            .joined(separator: " ")
    }
}

extension String {
    fileprivate var userAndDomain: (user: String, domain: String?) {
        let name = lowercased()
        return name.cut(at: "@").map { (String($0.0), String($0.1)) } ?? (name, nil)
    }

    /// Whether it is an address whose domain has a dot, so that nothing seems to be missing.
    package var isWholeAddress: Bool { cut(atLast: "@").map { $0.1.hasBytes(".") } ?? false }
}

extension CommandError {
    /// Creates the error for a name that several accounts match; if the name is an argument of a command, with that
    /// command for each account.
    fileprivate init(_ found: [KnownAccount], typed name: String, isWhole: Bool, _ command: ShellCommand?) {
        let accounts = found.map(\.account)
        guard let command else {
            self.init(
                "several accounts begin with \(name): \(accounts.namesApart.joined(separator: ", "))",
                hints: ["type more of the name"], status: .usage)
            return
        }
        let names = isWhole ? accounts.map(\.homeAccountID) : accounts.namesToType
        let labelled = zip(names, accounts.labels).map { name, label in
            Hint("\(label)", run: "\(command)\(last: name, limit: 200)")
        }
        self.init(
            "several accounts \(isWhole ? "are called" : "begin with") \(name)",
            hints: isWhole ? Self.hints(byHostOf: accounts, command) ?? labelled : labelled, status: .usage)
    }

    /// Returns commands that name each account by its host, which users know better than an identifier; nil if two
    /// accounts are at the same host, or if an account's authority isn't known.
    private static func hints(byHostOf accounts: [AccountRecord], _ command: ShellCommand) -> [Hint]? {
        guard Set(accounts.map { $0.environment.lowercased() }).count == accounts.count else { return nil }
        let hints = accounts.compactMap { account in
            account.authority.map { url in
                Hint(
                    "\(account.environment)",
                    run: "\(command)\(option: "--authority", url, limit: 255)\(last: account.username, limit: 200)")
            }
        }
        return hints.count == accounts.count ? hints : nil
    }
}

extension [AccountRecord] {
    /// The accounts' names; accounts with the same name are told apart by host, or by kind and identifier.
    package var namesApart: [String] {
        zip(self, namesToType).map { account, name in
            let shown = account.displayName
            let isIdentifier = name != shown && name == account.homeAccountID.displayable(limit: 200)
            return isIdentifier ? "\(shown) (\(account.displayedKind), \(name))" : name
        }
    }

    /// The name of each account that no other has, fit to show.
    var namesToType: [String] { map { distinctName(of: $0).displayable(limit: 200) } }

    /// Returns a name that only this account has: its user name, with the host if others have the same name, or else
    /// its identifier.
    func distinctName(of account: AccountRecord) -> String {
        guard let nameWithHost = account.nameWithHost else { return account.homeAccountID }
        let namesakes = filter { $0.username.lowercased() == account.username.lowercased() }
        guard namesakes.count > 1 else { return account.username }
        let here = namesakes.count { $0.environment.lowercased() == account.environment.lowercased() }
        return here == 1 ? nameWithHost : account.homeAccountID
    }

    /// A distinct label for each account: user name, name and kind, and if these are the same, also the host or tenant.
    var labels: [String] {
        let plain = map { account in
            let name = account.name?.displayable(limit: 30) ?? ""
            return (name.isEmpty ? [] : [name]) + [account.displayedKind]
        }
        let widest = Swift.min(map(\.displayName.count).max() ?? 0, 40)
        return indices.map { index in
            let account = self[index]
            let twins = indices.filter { self[$0].username.lowercased() == account.username.lowercased() }
            var details = plain[index]
            let alike = twins.filter { self[$0].displayedKind == account.displayedKind }
            let isElsewhere = alike.contains { !self[$0].environment.isSame(as: account.environment) }
            if isElsewhere { details.append("at \(account.environment.displayable(limit: 60))") }
            if !isElsewhere, alike.count > 1, let home = account.tenant {
                details.append("tenant \(home.displayable(limit: 13))")
            }
            let name = account.displayName
            let gap = String(repeating: " ", count: Swift.max(0, widest - name.count) + 2)
            return name + gap + details.joined(separator: ", ")
        }
    }
}
