import Addresses
import CredentialEngine
import Files
import Secrets
import Terminal
import TokenAcquisition
import TokenStore

/// The accounts that have signed in, and which of them is used where.
struct KnownAccounts {
    /// The accounts, sorted by user name.
    let all: [KnownAccount]
    /// The account that is used if nothing names one: at the named authority, or else at any.
    ///
    /// Nil if it depends on the authority or isn't known.
    let current: KnownAccount?
    /// The choice that `use -` restores.
    let previous: Previous?
    /// The authority to which the accounts are limited; nil for all.
    let named: NamedPlace?
    /// The accounts that don't belong to the named authority.
    let elsewhere: [KnownAccount]
    /// The accounts that only a broker of this machine has; nothing chooses among them.
    var ofMachine: [KnownAccount] = []
    private let overview: AccountOverview
    /// The account in use at the named authority, or at each authority that has a choice of its own.
    private let uses: [(account: KnownAccount, place: AuthorityPlace)]
    /// The account that is used at all other authorities.
    private let usedElsewhere: KnownAccount?
    private let recent: [KnownAccount]

    /// An earlier choice of an account.
    struct Previous {
        let account: KnownAccount
        /// Nil for all authorities.
        let place: AuthorityPlace?
    }

    /// Considers all authorities, or only the named one.
    init(_ overview: AccountOverview, at named: NamedPlace? = nil) {
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
        _ named: NamedPlace?, current: KnownAccount?
    ) -> Previous? {
        let last = chosen.first
        let place = named?.place ?? last.flatMap { overview.place($0.selected) }
        if let place {
            let before = overview.selection(at: place, clientID: named?.clientID).previous
            return before.flatMap(overview.account).map { Previous(account: $0, place: place) }
        }
        let before = chosen.first { $0.account != last?.account }?.account
        let others = overview.accounts.filter { $0 != last?.account ?? current }
        let isOnlyOther = others.count == 1 && overview.accounts.count == 2
        return (before ?? (isOnlyOther ? others.first : nil)).map { Previous(account: $0, place: nil) }
    }

    /// Returns a realm's name for people: its name if known, else its ID, shortened to the first digits of a UUID.
    func nameForPeople(ofRealm id: String) -> String {
        (overview.name(ofRealm: id) ?? (id.isUUID ? String(id.prefix(8)) : id)).displayable(limit: 60)
    }

    /// Returns the domain of a realm; nil if it isn't known.
    func domain(ofRealm id: String) -> String? { overview.name(ofRealm: id) }

    /// The accounts in the order in which the user is asked about them, those of the machine last.
    var byUse: [KnownAccount] { recent + all.filter { !recent.contains($0) } + ofMachine }

    /// Returns the only authority that accepts an account; nil if others may.
    func issuer(of account: AccountRecord) -> AuthorityPlace? { overview.issuer(of: account) }

    /// Whether an account is used anywhere.
    func isUsed(_ account: KnownAccount) -> Bool {
        account == usedElsewhere || uses.contains { $0.account == account }
    }

    /// Whether an account is used at all authorities without a choice of their own.
    func isUsedElsewhere(_ account: KnownAccount) -> Bool { account == usedElsewhere }

    /// Returns the authorities with a choice of their own at which an account is used.
    func places(of account: KnownAccount) -> [AuthorityPlace] {
        uses.filter { $0.account == account }.map(\.place)
    }

    /// Returns the authorities on the account's own hosts at which other accounts are used.
    func places(butFor account: KnownAccount) -> [(account: KnownAccount, place: AuthorityPlace)] {
        let hosts = Set(account.profiles.map { $0.environment.lowercased() })
        return uses.filter { $0.account != account && !hosts.isDisjoint(with: $0.place.aliases) }
    }
}

extension Session {
    /// Selects an account for an authority, or for all that accept it.
    func select(_ account: AccountRecord, at place: AuthorityPlace?) throws(Failure) {
        guard let selection, let selected = SelectedAccount(account, authority: place?.path) else {
            throw Failure(
                "there is no folder to store the chosen account in", hints: ["set HOME or XDG_STATE_HOME"])
        }
        do throws(SelectionError) {
            try selection.select(selected)
        } catch {
            throw Failure(
                "\(error.path.displayable(limit: 300)) cannot be used: \(error.reason)",
                hints: [error.problem.hint("ls -ld\(last: error.path)", in: error.path)])
        }
    }
}
