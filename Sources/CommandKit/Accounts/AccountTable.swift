import Addresses
import ArgumentParser
import Claims
package import JSON
import Keyring
import Model
import PluginHost
import PluginWire
import Rules
import Secrets
import Terminal
package import TokenAcquisition

extension Session {
    /// Prints the accounts that have signed in, those in use first.
    package func listAccounts(at authority: NamedAuthority?, inJSON: Bool, withClaims: Bool) async throws {
        var known = try await accounts(at: authority)
        known.ofMachine = await accountsOfBrokers(besides: known)
        let console = context.console
        if inJSON { return console.print(json: .array(known.byUse.map { $0.json(among: known) })) }
        guard !known.byUse.isEmpty else { return console.note("nobody is signed in") }
        for line in AccountTable(known).lines(width: Console.columns) { console.print(line) }
        guard withClaims else { return }
        var isDecoded = false
        for account in known.byUse {
            for token in account.idTokens {
                guard let decoded = try? DecodedToken(token.secret, now: context.now) else { continue }
                isDecoded = true
                let app = registry.client(withID: token.clientID)?.name ?? token.clientID
                let owner = "\(account.account.displayName) at \(token.environment.displayable(limit: 255))"
                console.print("")
                console.print("ID token of \(owner), app \(app.displayable(limit: 100)):")
                for line in decoded.lines(columns: Console.columns) { console.print("  \(line)") }
                let told = token.userInfo.flatMap { JSONValue(bytes: $0.utf8) }?.members
                guard let told else { continue }
                console.print("UserInfo of \(owner):")
                for line in DecodedToken(claims: told, now: context.now).lines(columns: Console.columns) {
                    console.print("  \(line)")
                }
            }
        }
        console.note(isDecoded ? "decoded only: no signature was verified" : "no account has an ID token")
    }

    /// How long the list may wait for a broker.
    private static let patience = Duration.seconds(2)

    /// Returns the accounts that brokers of this machine are signed in to and lanyard has no records of.
    ///
    /// A broker that doesn't answer has none: `lanyard doctor` says why.
    fileprivate func accountsOfBrokers(besides known: KnownAccounts) async -> [KnownAccount] {
        guard configuration.mayUseBroker else { return [] }
        var found: [KnownAccount] = []
        for (plugin, requests) in brokerUses where plugin.hasNeeds(in: context.environment) {
            let uses = requests.compactMap { request in
                acquirer.key(of: request.authority, kind: request.kind).map { (request: request, place: $0) }
            }
            guard let use = uses.first(where: { known.named.map(\.place.url) ?? $0.place.url == $0.place.url }),
                acquirer.brokerFailure(of: plugin, for: use.request) == nil,
                let probe = try? await acquirer.probeBroker(plugin, for: use.request, within: Self.patience)
            else { continue }
            found += probe.accounts.map { KnownAccount($0, of: plugin, at: use.place) }
        }
        let stored = known.all + known.elsewhere
        return found.filter { machines in !stored.contains { $0.isNamed(machines.account.username) } }
    }
}

extension KnownAccount {
    /// Returns the account for `--json`; the members are documented in lanyard-status(1) and must not change.
    package func json(among known: KnownAccounts) -> JSONValue {
        let tenants = profiles.map { profile in
            JSONValue.object([
                "tenant": .string(profile.realm), "domain": known.domainJSON(profile.realm),
                "home": .bool(profile.isHome),
                "localAccountId": .string(profile.localAccountID ?? ""),
                "idTokens": .array(
                    idTokens.filter { $0.realm.lowercased() == profile.realm.lowercased() }.map(\.claimsJSON)),
            ])
        }
        var members: [String: JSONValue] = [
            "username": .string(account.username), "name": .string(account.name ?? ""),
            "homeAccountId": .string(account.homeAccountID), "environment": .string(account.environment),
            "tenant": .string(account.homeRealm ?? ""), "domain": known.domainJSON(account.homeRealm),
            "tenants": .array(tenants), "kind": .string(account.kindWord),
            "clientIds": .array(clientIDs.map(JSONValue.string)), "canRenew": .bool(canRenew),
            "broker": JSONValue(broker),
            "current": .bool(known.isUsed(self)), "previous": .bool(self == known.previous?.account),
            "usedFor": JSONValue(strings: known.places(of: self).map(\.url)),
            "usedElsewhere": .bool(known.isUsedElsewhere(self)),
        ]
        if let policy = account.policy { members["policy"] = .string(policy) }
        return .object(members)
    }
}

extension KnownAccounts {
    fileprivate func domainJSON(_ realm: String?) -> JSONValue { .string(realm.flatMap(domain) ?? "") }
}

extension IDTokenRecord {
    /// What the token says, without its signature, so that it can't be used.
    package var claimsJSON: JSONValue {
        [
            "clientId": .string(clientID), "claims": WebToken.claims(of: secret.reveal()) ?? .null,
            "userinfo": userInfo.flatMap { JSONValue(bytes: $0.utf8) } ?? .null,
        ]
    }
}

extension AccountRecord {
    /// The kind as one word, such as `work-or-school`.
    fileprivate var kindWord: String { (kind ?? "other").lowercased().pieces(between: " ").joined(separator: "-") }
}

/// A table of accounts, cut to the terminal's width.
package struct AccountTable {
    private struct Column {
        let title: String
        /// The minimum width.
        let least: Int
        /// The minimum width as long as other columns can be left out; nil if it is `least`.
        var fair: Int?
        /// Whether the column is left out if the screen is still too narrow.
        var mayGo = false
        /// Whether its cells move to lines of their own if the screen is still too narrow.
        var goesBelow = false
        let cell: (KnownAccount) -> String

        /// Returns the width as long as other columns can be left out.
        func fairWidth(_ accounts: [KnownAccount]) -> Int {
            min(fair ?? least, accounts.map { cell($0).count }.reduce(title.count, max))
        }
    }

    private let known: KnownAccounts
    private let columns: [Column]

    package init(_ known: KnownAccounts) {
        self.known = known
        var columns = [
            Column(title: "ACCOUNT", least: .max) { $0.account.displayName },
            Column(title: "NAME", least: 6, mayGo: true) { ($0.account.name ?? "").displayable(limit: 60) },
            Column(title: "KIND", least: 8, mayGo: true) { $0.account.displayedKind },
        ]
        if known.all.contains(where: { !Self.tenants($0, known).isEmpty }) {
            columns.append(Column(title: "TENANTS", least: 8, mayGo: true) { Self.tenants($0, known) })
        }
        if Set(known.byUse.map { $0.account.environment.lowercased() }).count > 1 {
            columns.append(
                Column(title: "AUTHORITY", least: .max, goesBelow: true) { $0.account.environment.displayable() })
        }
        columns.append(Column(title: "RENEWS", least: 6) { $0.broker == nil ? $0.canRenew ? "yes" : "no" : "broker" })
        if known.all.count > 1, known.all.contains(where: { !known.places(of: $0).isEmpty }) {
            columns.insert(Column(title: "USED FOR", least: 9, fair: 30) { Self.uses(of: $0, known) }, at: 1)
        }
        self.columns = columns
    }

    /// Returns the lines, the account that was chosen last first; without a width, they are as wide as necessary.
    ///
    /// Users type the names of accounts and hosts, so these are never cut; other columns shrink instead.
    package func lines(width: Int?) -> [String] {
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

    /// Returns the columns that fit, after leaving out others.
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

    /// Returns where an account is used: the authorities' paths, or "all" without those of other accounts.
    private static func uses(of account: KnownAccount, _ known: KnownAccounts) -> String {
        guard known.isUsedElsewhere(account) else { return names(of: known.places(of: account), known) }
        if let issuer = known.issuer(of: account.account) { return names(of: [issuer], known) }
        let others = known.places(butFor: account).map(\.place)
        return others.isEmpty ? "all" : "all but \(names(of: others, known))"
    }

    private static func names(of places: [AuthorityKey], _ known: KnownAccounts) -> String {
        places.map { place in
            if place.isSeparate { return String(place.displayedURL.dropFirst("https://".count)) }
            return place.path.pieces(between: "/").map { known.displayName(ofRealm: String($0)) }.joined(
                separator: "/")
        }.joined(separator: ", ")
    }

    /// Returns the home tenant, then the tenants where the account is a guest.
    private static func tenants(_ account: KnownAccount, _ known: KnownAccounts) -> String {
        guard !account.isHomeShared || account.profiles.count > 1 else { return "" }
        let guests = account.profiles.filter { !$0.isHome }.map { "guest in \(known.displayName(ofRealm: $0.realm))" }
        let home = account.account.tenant.map(known.displayName)
        return ([home].compactMap(\.self) + guests).joined(separator: ", ")
    }
}
