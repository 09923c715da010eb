import Addresses
import ArgumentParser
import JSON
import Rules
import Terminal
import TokenAcquisition
import TokenStore

struct AccountsCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "accounts", abstract: "List the accounts that have signed in.",
        discussion: """
            `*` marks the accounts in use, `-` the one that `lanyard use -` goes back to. USED FOR lists the authorities \
            that an account was chosen for.
            """)

    static let examples: KeyValuePairs = [
        "See who has signed in": "lanyard accounts",
        "See who can be used for a URL": "lanyard accounts \(Example.url)",
    ]

    @Argument(help: "A URL that a rule maps: only accounts of its authority.")
    var url: String?

    @OptionGroup var place: PlaceOptions

    @Flag(help: "Print JSON.")
    var json = false

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context)
        let known = try session.accounts(at: try place.place(url, in: session))
        let console = session.context.console
        if json {
            return console.print(json: .array(known.byUse.map { $0.json(among: known) }))
        }
        guard !known.all.isEmpty else { return console.note("nobody is signed in") }
        for line in AccountTable(known).lines(width: OutputWidth.ofTerminal) { console.print(line) }
    }
}

extension KnownAccount {
    /// Returns the account for `--json`; the members are documented in lanyard(1) and must not change.
    func json(among known: KnownAccounts) -> JSONValue {
        let tenants = profiles.map { profile in
            JSONValue.object([
                "tenant": .string(profile.realm), "domain": known.domainJSON(profile.realm),
                "home": .bool(profile.isHome),
                "localAccountId": .string(profile.localAccountID ?? ""),
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

extension AccountRecord {
    /// The kind as one word, such as `work-or-school`.
    fileprivate var kindWord: String { (kind ?? "other").lowercased().pieces(between: " ").joined(separator: "-") }
}
