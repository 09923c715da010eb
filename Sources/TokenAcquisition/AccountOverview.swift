import Addresses
internal import AnswerCache
public import Keyring
public import Model
public import PluginHost
public import PluginWire
import Secrets

/// All accounts, the user's choices, and which account is used where.
public struct AccountOverview: Sendable {
    /// Every account, by user name.
    public let accounts: [KnownAccount]
    /// The user's choices, the most recent first.
    public let history: [SelectedAccount]
    private let records: StoredRecords
    private let registry: PluginRegistry
    private let isShared: Bool
    private let realmNames: [String: String]

    /// Builds the overview from stored records; account records alone are enough to list accounts and choices.
    public init(_ records: StoredRecords, registry: PluginRegistry, history: [SelectedAccount], isShared: Bool = false)
    {
        accounts = KnownAccount.all(records, registry: registry)
        self.history = history
        self.records = records
        self.registry = registry
        self.isShared = isShared
        realmNames = records.realmNames(besides: Set(registry.plugins.flatMap(\.sharedRealms).map(\.name)))
    }

    /// Returns the display name of a realm that is stored by its ID, such as its domain; nil if none is known.
    public func name(ofRealm id: String) -> String? { realmNames[id.lowercased()] }

    /// The authorities that an account was chosen for, the most recent choice first.
    public var places: [AuthorityKey] {
        var seen: Set<String> = []
        return history.compactMap(key).filter { seen.insert($0.url).inserted }
    }

    /// Returns the authority that a choice is for; nil if it is for all.
    public func key(of selected: SelectedAccount) -> AuthorityKey? {
        guard let path = selected.authority else { return nil }
        // If a host as a whole is an authority, the choice was stored by the name of its realm, which isn't in its URL.
        let isHost = path == "/\(PluginProtocol.realmOfHost)"
        let url = "https://\(selected.environment)\(isHost ? "" : path.percentDecoded ?? path)"
        if let match = registry.match(authority: url, isConfigured: true) { return AuthorityKey(match) }
        let environments = registry.plugins.flatMap(\.environments)
        let aliases = environments.first { $0.contains(selected.environment) } ?? [selected.environment]
        return AuthorityKey(selected, aliases: aliases)
    }

    /// Returns the account's only authority; nil if other authorities may accept the account too.
    public func issuer(of account: AccountRecord) -> AuthorityKey? {
        let realm = account.realm.lowercased()
        let path = realm == PluginProtocol.realmOfHost ? "" : "/\(realm)"
        let match = registry.match(
            authority: "https://\(account.environment.lowercased())\(path.percentDecoded ?? path)", isConfigured: true)
        return match.flatMap { $0.isSeparate ? AuthorityKey($0) : nil }
    }

    /// Returns the accounts of an authority, as `get` chooses among them for a client; a nil client stands for any
    /// client.
    public func selection(at place: AuthorityKey, clientID: String? = nil) -> AccountSelection {
        AccountSelection(records, at: place, clientID: clientID, history: history, isShared: isShared)
    }

    /// Returns the account that a record belongs to.
    public func account(_ record: AccountRecord) -> KnownAccount? {
        accounts.first { known in
            known.account.homeAccountID.lowercased() == record.homeAccountID.lowercased()
                && known.environments.contains(record.environment.lowercased())
        }
    }
}

extension StoredRecords {
    /// Returns the names of realms by their IDs: the plugins' names for accounts' homes, or else those in authorities'
    /// URLs.
    fileprivate func realmNames(besides shared: Set<String>) -> [String: String] {
        let homes = accounts.flatMap { account in
            account.homeRealms.dropFirst().map { (account.homeRealms[0], $0) }
        }
        let asked =
            accounts.map { ($0.realm, $0.requestedRealm ?? "") }
            + accessTokens.flatMap { token in
                (token.requestedRealm ?? "").pieces(between: " ").map { (token.realm, String($0)) }
            }
        var names: [String: String] = [:]
        for told in [homes, asked] {
            let usable = told.map { ($0.lowercased(), $1.lowercased()) }.filter { id, name in
                !name.isEmpty && name != id && !name.isUUID && !shared.contains(name)
            }
            // The shortest name, because one of a tenant's domains may be a subdomain of another.
            let best = Dictionary(grouping: usable) { $0.0 }.compactMapValues { pairs in
                pairs.map(\.1).min { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
            }
            names.merge(best) { first, _ in first }
        }
        return names
    }
}

/// An account and its stored records that can answer a request.
public struct StoredAccount: Sendable {
    let account: AccountRecord
    let selection: SilentSelection
    let records: StoredRecords

    /// Returns a token that can be handed out as it is; one that is due for early renewal only if `renewsEarly` is
    /// false.
    func usable(renewsEarly: Bool) -> AcquiredToken? {
        guard let token = selection.freshToken, !renewsEarly || !selection.shouldRenew(token) else { return nil }
        var acquired = AcquiredToken(token, account: account, source: .cache)
        acquired.dueOn = selection.redeemable.isEmpty ? nil : selection.dueOn(token)
        return acquired
    }

    /// The token that is handed out while the authority is down.
    var lastResort: AcquiredToken? {
        selection.lastResort.map { AcquiredToken($0, account: account, source: .cache) }
    }

    /// The token that is handed out although it was refused, if nobody can be asked.
    ///
    /// It counts as due, so that the answer isn't remembered: for the next request, somebody may be there to be asked.
    var refusedToken: AcquiredToken? {
        guard var token = selection.refusedToken else { return nil }
        token.refreshOn = token.cachedAt
        return AcquiredToken(token, account: account, source: .cache)
    }

    /// Returns the request with the claims that a server asked for when it refused a stored token.
    func withMissedClaims(_ request: TokenRequest) -> TokenRequest {
        var request = request
        request.claims = request.claims ?? selection.missedClaims
        return request
    }

    /// What a server complained of in what is stored; nil if it didn't.
    func complaint(about request: TokenRequest) -> PluginError? {
        let missed = request.claims == nil ? selection.missedClaims : nil
        let scopes = selection.missingScopes
        return missed.map(PluginError.missing) ?? selection.secondsToRenewal.map(PluginError.refused)
            ?? (scopes.isEmpty ? nil : .lacking(scopes))
    }

    /// Returns the access tokens that were refused somewhere, according to a refresh token's record.
    func refused(of refreshToken: RefreshTokenRecord, now: Int) -> [AccessTokenRecord] {
        let digests = refreshToken.refusedTokens(now: now)
        return records.accessTokens.filter { digests.contains($0.secret.reveal().shortDigest) }
    }

    /// Every record of the account.
    var everything: [CredentialRecord] {
        records.all.filter { $0.homeAccountID?.lowercased() == account.homeAccountID.lowercased() }
    }
}

extension Decision {
    /// What speaks against what is stored of the account that has to sign in; nil if nothing does.
    public func complaint(about request: TokenRequest) -> PluginError? { stored?.complaint(about: request) }
}
