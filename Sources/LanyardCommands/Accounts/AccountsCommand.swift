import Addresses
import ArgumentParser
import Claims
import JSON
import PluginHost
import PluginWire
import Rules
import Secrets
import Terminal
import TokenAcquisition
import TokenStore

struct AccountsCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "accounts", abstract: "List the accounts that have signed in.",
        discussion: """
            `*` marks the accounts in use, `-` the one that `lanyard use -` goes back to. USED FOR lists the authorities \
            that an account was chosen for. Accounts that only the machine's broker has come last.
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
        var known = try await session.accounts(at: try place.place(url, in: session))
        known.ofMachine = await session.accountsOfBrokers(besides: known)
        let console = session.context.console
        if json {
            return console.print(json: .array(known.byUse.map { $0.json(among: known) }))
        }
        guard !known.byUse.isEmpty else { return console.note("nobody is signed in") }
        for line in AccountTable(known).lines(width: OutputWidth.ofTerminal) { console.print(line) }
    }
}

extension Session {
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
                acquirer.place(of: request.authority, kind: request.kind).map { (request: request, place: $0) }
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
    /// Returns the account for `--json`; the members are documented in lanyard(1) and must not change.
    func json(among known: KnownAccounts) -> JSONValue {
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
    fileprivate var claimsJSON: JSONValue {
        ["clientId": .string(clientID), "claims": WebToken.claims(of: secret.reveal()) ?? .null]
    }
}

extension AccountRecord {
    /// The kind as one word, such as `work-or-school`.
    fileprivate var kindWord: String { (kind ?? "other").lowercased().pieces(between: " ").joined(separator: "-") }
}
