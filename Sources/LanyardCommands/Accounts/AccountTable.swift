import Addresses
import Secrets
import Terminal
import TokenAcquisition
import TokenStore

/// The accounts as a table, cut to the terminal's width.
struct AccountTable {
    private struct Column {
        let title: String
        /// The least width that it is cut to.
        let least: Int
        /// The width that it is cut to as long as others can be left out; nil if that is the least.
        var fair: Int?
        /// Whether it is left out if the screen is too narrow even so.
        var mayGo = false
        /// Whether its cells go on lines of their own if there is no room for them still.
        var goesBelow = false
        let cell: (KnownAccount) -> String

        /// How wide it is while others can be left out.
        func fairWidth(_ accounts: [KnownAccount]) -> Int {
            min(fair ?? least, accounts.map { cell($0).count }.reduce(title.count, max))
        }
    }

    private let known: KnownAccounts
    private let columns: [Column]

    init(_ known: KnownAccounts) {
        self.known = known
        var columns = [
            Column(title: "ACCOUNT", least: .max) { $0.account.nameForPeople },
            Column(title: "NAME", least: 6, mayGo: true) { ($0.account.name ?? "").displayable(limit: 60) },
            Column(title: "KIND", least: 8, mayGo: true) { $0.account.kindForPeople },
        ]
        if known.all.contains(where: { !Self.tenants($0, known).isEmpty }) {
            columns.append(Column(title: "TENANTS", least: 8, mayGo: true) { Self.tenants($0, known) })
        }
        if Set(known.all.map { $0.account.environment.lowercased() }).count > 1 {
            columns.append(
                Column(title: "AUTHORITY", least: .max, goesBelow: true) { $0.account.environment.displayable() })
        }
        columns.append(Column(title: "RENEWS", least: 6) { $0.broker == nil ? $0.canRenew ? "yes" : "no" : "broker" })
        if known.all.count > 1, known.all.contains(where: { !known.places(of: $0).isEmpty }) {
            columns.insert(Column(title: "USED FOR", least: 9, fair: 30) { Self.uses(of: $0, known) }, at: 1)
        }
        self.columns = columns
    }

    /// The lines, the account that was chosen last first; as wide as they need to be if no width is given.
    ///
    /// Names of accounts and their hosts are what people type, so these are never cut: other columns give way.
    func lines(width: Int?) -> [String] {
        let accounts = known.byUse
        let columns = fitting(width, accounts)
        let table = Table([columns.map(\.title)] + accounts.map { account in columns.map { $0.cell(account) } })
        let isFair = isFitting(columns, width, accounts)
        let rows = table.cut(
            columns: width, indent: 2, to: columns.map { isFair ? $0.fair ?? $0.least : $0.least })
        let lines = zip([" "] + accounts.map(mark), rows).map { "\($0) \($1)" }
        guard !columns.contains(where: \.goesBelow), let below = self.columns.first(where: \.goesBelow) else {
            return lines
        }
        return lines.prefix(1) + zip(lines.dropFirst(), accounts).flatMap { [$0, "      \(below.cell($1))"] }
    }

    /// The columns that there is room for, cut if need be.
    private func fitting(_ width: Int?, _ accounts: [KnownAccount]) -> [Column] {
        var columns = columns
        while !isFitting(columns, width, accounts),
            let first = columns.firstIndex(where: \.mayGo) ?? columns.firstIndex(where: \.goesBelow)
        {
            columns.remove(at: first)
        }
        return columns
    }

    private func isFitting(_ columns: [Column], _ width: Int?, _ accounts: [KnownAccount]) -> Bool {
        width.map { columns.reduce(0) { $0 + $1.fairWidth(accounts) + 2 } <= $0 } ?? true
    }

    private func mark(_ account: KnownAccount) -> String {
        known.isUsed(account) ? "*" : account == known.previous?.account ? "-" : " "
    }

    /// Where an account is used: the authorities by their path, or all but those of others.
    private static func uses(of account: KnownAccount, _ known: KnownAccounts) -> String {
        guard known.isUsedElsewhere(account) else { return names(of: known.places(of: account), known) }
        if let issuer = known.issuer(of: account.account) { return names(of: [issuer], known) }
        let others = known.places(butFor: account).map(\.place)
        return others.isEmpty ? "all" : "all but \(names(of: others, known))"
    }

    private static func names(of places: [AuthorityPlace], _ known: KnownAccounts) -> String {
        places.map { place in
            if place.isSeparate { return String(place.urlForPeople.dropFirst("https://".count)) }
            return place.path.pieces(between: "/").map { known.nameForPeople(ofRealm: String($0)) }.joined(
                separator: "/")
        }.joined(separator: ", ")
    }

    /// The home tenant, then those where the account is a guest.
    private static func tenants(_ account: KnownAccount, _ known: KnownAccounts) -> String {
        guard !account.isHomeShared || account.profiles.count > 1 else { return "" }
        let guests = account.profiles.filter { !$0.isHome }.map { "guest in \(known.nameForPeople(ofRealm: $0.realm))" }
        let home = account.account.tenant.map(known.nameForPeople)
        return ([home].compactMap(\.self) + guests).joined(separator: ", ")
    }
}
