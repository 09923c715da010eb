import Addresses
import CredentialEngine
import Secrets
import Terminal
import TokenAcquisition
import TokenStore

/// The accounts that have signed in, and which of them is used where.
struct KnownAccounts {
    /// The accounts, by user name.
    let all: [KnownAccount]
    /// The account that is used if nothing names one: at the authority, if only one is looked at, else at any.
    ///
    /// Nil if that depends on the authority, or nothing tells.
    let current: KnownAccount?
    /// What `use -` goes back to.
    let previous: Previous?
    /// The authority that is looked at; nil for all.
    let named: NamedPlace?
    /// The accounts that this authority has nothing to do with.
    let elsewhere: [KnownAccount]
    private let overview: AccountOverview
    /// The authorities that each account is used at because one was chosen there, by identifier.
    private let uses: [(account: KnownAccount, place: AuthorityPlace)]
    /// The account that is used wherever no other was chosen.
    private let usedElsewhere: KnownAccount?
    private let recent: [KnownAccount]

    /// An account that was used before, and where.
    struct Previous {
        let account: KnownAccount
        /// Nil for all authorities.
        let place: AuthorityPlace?
    }

    /// Looks at all authorities, or at one only.
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

    /// A realm as people call it: its name if it is known, else its id, of a UUID the first digits.
    func nameForPeople(ofRealm id: String) -> String {
        (overview.name(ofRealm: id) ?? (id.isUUID ? String(id.prefix(8)) : id)).displayable(limit: 60)
    }

    /// The domain of a realm; nil if nobody told one.
    func domain(ofRealm id: String) -> String? { overview.name(ofRealm: id) }

    /// The accounts in the order that a person is asked about them.
    var byUse: [KnownAccount] { recent + all.filter { !recent.contains($0) } }

    /// The only authority that takes an account; nil if others may.
    func issuer(of account: AccountRecord) -> AuthorityPlace? { overview.issuer(of: account) }

    /// Whether an account is used anywhere.
    func isUsed(_ account: KnownAccount) -> Bool {
        account == usedElsewhere || uses.contains { $0.account == account }
    }

    /// Whether an account is used wherever no other was chosen.
    func isUsedElsewhere(_ account: KnownAccount) -> Bool { account == usedElsewhere }

    /// The authorities at which an account is used, because some account was chosen there.
    func places(of account: KnownAccount) -> [AuthorityPlace] {
        uses.filter { $0.account == account }.map(\.place)
    }

    /// The authorities of the account's own hosts at which others are used.
    func places(butFor account: KnownAccount) -> [(account: KnownAccount, place: AuthorityPlace)] {
        let hosts = Set(account.profiles.map { $0.environment.lowercased() })
        return uses.filter { $0.account != account && !hosts.isDisjoint(with: $0.place.aliases) }
    }
}

extension Session {
    /// Every account and which of them is used where, or those of one authority.
    func accounts(at named: NamedPlace? = nil) throws(Failure) -> KnownAccounts {
        KnownAccounts(try list().accounts, at: named)
    }

    /// Chooses an account for an authority, or for all that accept it.
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
                hints: [Hint("see who owns it", run: "ls -ld\(last: error.path)")])
        }
    }
}
