import Addresses
import Claims
import JSON
import Keyring
import Model
import PluginHost
import Rules
import Secrets

/// The stored records that can answer a request without the user (MSAL's AcquireTokenSilent).
struct SilentSelection: Sendable {
    /// Seconds before its expiry from which a token is no longer handed out.
    static let expiryBuffer = 300
    /// The same if a renewal revokes the previous token, which another process may be using.
    static let lateExpiryBuffer = 60

    let place: AuthorityKey
    /// The account; nil for an identity.
    let account: AccountRecord?
    let request: TokenRequest
    /// Whether no token is renewed before it has to be, whatever the timing.
    var renewsLate = false
    /// Whether the authority's renewals bring no scopes that the sign-in wasn't for, as at code hosts.
    var addsNoScopes = false
    /// Whether tokens may live for so few minutes that they serve until the last fifth of their lives.
    var mayBeShort = false
    /// When tokens are to be renewed, unless they are renewed late.
    let timing: RenewalTiming
    /// The time in seconds since 1970.
    let now: Int
    /// The refresh tokens to try, best first.
    let refreshTokens: [RefreshTokenRecord]
    /// The refresh tokens that are worth redeeming; one whose renewal's token was refused at the request's place is left
    /// out for a minute.
    let redeemable: [RefreshTokenRecord]
    /// The last result of exchanging a token of the client, account, realm and scopes for the request's host.
    let exchanged: ExchangedRecord?
    /// The refusals that apply where the token is to be presented.
    private let refusals: [RejectedToken]
    /// The client's tokens for the account, realm and scopes, the one that expires last first.
    private let matching: [AccessTokenRecord]
    /// Those that weren't refused where the token is to be presented.
    private let candidates: [AccessTokenRecord]
    /// The client's family according to the authority: empty for none, nil if that isn't known.
    private let familyOfClient: String?

    init(
        records: StoredRecords, place: AuthorityKey, account: AccountRecord?, request: TokenRequest,
        timing: RenewalTiming = .whenDue, now: Int
    ) {
        (self.place, self.account, self.request, self.timing, self.now) = (place, account, request, timing, now)
        familyOfClient = records.appMetadata.first { $0.clientID.clientKey == request.clientID.clientKey }?.familyID
        refreshTokens = records.refreshTokens(of: account, at: place, for: request, familyOfClient)
        let standing = refreshTokens.map { $0.refusals(of: request, now: now) }
        let refusals = standing.flatMap(\.self)
        redeemable = zip(refreshTokens, standing).filter { $1.allSatisfy { $0.remaining(at: now) == nil } }.map(\.0)
        let tokens =
            request.token == .id
            ? records.idTokens.compactMap { AccessTokenRecord(handingOut: $0, for: request) } : records.accessTokens
        matching =
            tokens
            .filter { $0.serves(request, at: place) && place.owns($0, of: account) }
            .sorted { $0.expiresOn ?? .max > $1.expiresOn ?? .max }
        candidates = matching.filter { token in !refusals.contains { $0.excludes(token) } }
        self.refusals = refusals
        exchanged = records.exchanged.filter { $0.serves(request, at: place) && place.owns($0, of: account) }
            .max { $0.cachedAt < $1.cachedAt }
    }

    /// Takes what the authority's tokens are like.
    mutating func heed(_ authority: AuthorityMatch) {
        renewsLate = authority.issuer?.revokesOnRenewal ?? false
        addsNoScopes = authority.scopesAreOfSignIn
        // Other issuers than directories and code hosts are as people configure them.
        mayBeShort = !authority.scopesAreOfSignIn && authority.isSeparate
    }

    private var actualTiming: RenewalTiming { renewsLate ? .whenDue : timing }

    /// The access token to hand out; nil if there is none.
    ///
    /// It must be valid for five more minutes, or for one if it is renewed late, and the request must ask for neither
    /// claims nor a prompt.
    var freshToken: AccessTokenRecord? { fresh(among: candidates) }

    private func fresh(among candidates: [AccessTokenRecord]) -> AccessTokenRecord? {
        guard request.claims == nil, request.needsNoPage else { return nil }
        let buffer = renewsLate ? Self.lateExpiryBuffer : Self.expiryBuffer
        return candidates.first { isFresh($0, buffer) }
    }

    /// Whether what was granted lives for some more seconds and isn't to be renewed ahead of time now.
    private func isFresh(_ record: some GrantedRecord, _ buffer: Int = Self.expiryBuffer) -> Bool {
        let fifth = record.expiresOn.map { max($0 - record.cachedAt, 0) / 5 } ?? 0
        return record.lives(after: now + (mayBeShort ? min(buffer, fifth) : buffer))
            && record.cachedAt <= now + Self.expiryBuffer
            && (actualTiming != .ahead || record.aheadOn.map { $0 > now } ?? true)
    }

    /// Whether the authority wants the token renewed although it is still valid (`refresh_in`).
    func shouldRenew(_ token: AccessTokenRecord) -> Bool {
        !renewsLate && actualTiming == .whenDue && token.refreshOn.map { $0 <= now } ?? false
    }

    /// From when on a token, or what one was exchanged for, is renewed ahead of time, in seconds since 1970; nil for never.
    func dueOn(_ record: some GrantedRecord) -> Int? { actualTiming == .whenDue ? nil : record.aheadOn }

    /// The access token that is usable while the authority is down: unexpired, or within its extended lifetime.
    var lastResort: AccessTokenRecord? {
        guard request.claims == nil else { return nil }
        return candidates.first { $0.lives(after: now) || ($0.extendedExpiresOn ?? 0) > now }
    }

    /// The result of an exchange to hand out; nil if the token must be exchanged again.
    var freshExchanged: ExchangedRecord? {
        guard request.claims == nil, request.needsNoPage, let exchanged, isFresh(exchanged) else { return nil }
        return actualTiming == .whenDue && exchanged.refreshOn.map { $0 <= now } ?? false ? nil : exchanged
    }

    /// The scopes that only another sign-in brings; empty if a renewal may.
    var missingScopes: [String] {
        let known = redeemable.map(\.target)
        guard addsNoScopes, !known.isEmpty, !known.contains("") else { return [] }
        let missing = known.map { target in
            let granted = place.scopeKeys(target.pieces(between: " ").map(String.init))
            return request.scopes.filter { !$0.isOpenIDScope && place.scopeKeys([$0]).isDisjoint(with: granted) }
        }
        return missing.contains([]) ? [] : missing[0]
    }

    /// Whether the last token came from a broker's sign-in, and so is renewed there.
    var isBrokered: Bool { matching.first.map { $0.broker != nil } ?? (account?.broker != nil) }

    /// Whether a renewal can answer the request; false if it asks for a prompt.
    var mayRenew: Bool { request.needsNoPage }

    /// Whether one of those is the client's own, or the authority has called it a member of the family that they are of.
    var isMember: Bool {
        familyOfClient?.isEmpty == false
            || redeemable.contains { $0.clientID.clientKey == request.clientID.clientKey }
    }

    /// Seconds until a renewal may help again; nil if it may now.
    var secondsToRenewal: Int? { refusals.compactMap { $0.remaining(at: now) }.max() }

    /// The token that was just renewed and refused at the host; nil if the path is known, or if the server said which
    /// claims it needs.
    ///
    /// Without paths, nobody knows whether the refusal was for the repository that is wanted now. Handing the token out
    /// keeps the others usable for a user who lost access to one.
    var refusedToken: AccessTokenRecord? {
        guard request.host != nil, request.path?.isEmpty ?? true, missedClaims == nil, secondsToRenewal != nil else {
            return nil
        }
        return fresh(among: matching)
    }

    /// The claims that a server asked for when it refused the last token that was presented there.
    var missedClaims: String? { refusals.lazy.compactMap(\.claims).first }
}

extension StoredRecords {
    /// Returns the refresh tokens to try, best first.
    ///
    /// The client's own token comes before its family's. If the authority called the client a member of the family, the
    /// family's token comes first, because every member renews it. If it called the client no member, only its own
    /// token is used.
    fileprivate func refreshTokens(
        of account: AccountRecord?, at place: AuthorityKey, for request: TokenRequest, _ familyOfClient: String?
    ) -> [RefreshTokenRecord] {
        guard let account else { return [] }
        let here = refreshTokens.filter { token in
            place.aliases.contains(token.environment.lowercased())
                && token.homeAccountID.lowercased() == account.homeAccountID.lowercased()
        }
        let own = here.filter { $0.clientID.clientKey == request.clientID.clientKey }.newestFirst
        let family = here.filter { $0.familyID != nil }.newestFirst
        switch familyOfClient {
        case ""?: return own
        case let id?: return family.filter { $0.familyID == id } + own.filter { $0.familyID != id }
        case nil: return own + family.filter { $0.clientID.clientKey != request.clientID.clientKey }
        }
    }
}

extension AccessTokenRecord {
    /// Whether it is for the request's client, scopes and resources, of any account.
    func serves(_ request: TokenRequest, at place: AuthorityKey) -> Bool {
        clientID.clientKey == request.clientID.clientKey && resourceIndicators == request.resourceKey
            && place.scopeKeys(request.scopes).isSubset(of: place.scopeKeys(scopes))
    }
}

extension AccessTokenRecord {
    /// An ID token in the place of an access token that a request is for; nil unless it was issued to the client itself.
    init?(handingOut token: IDTokenRecord, for request: TokenRequest) {
        guard let claims = WebToken.claims(of: token.secret.reveal()), let end = claims["exp"]?.wholeNumber,
            let audience = claims["aud"],
            ([audience.string] + audience.elements.map(\.string)).contains(where: {
                $0?.clientKey == token.clientID.clientKey
            })
        else { return nil }
        self.init(
            homeAccountID: token.homeAccountID, environment: token.environment, clientID: token.clientID,
            realm: token.realm, target: request.scopes.joined(separator: " "), secret: token.secret,
            cachedAt: claims["iat"]?.wholeNumber ?? 0, expiresOn: end)
        resourceIndicators = request.resourceKey
        requestedRealm = token.requestedRealm
        plugin = token.plugin
        other[Rejection.renewedMember] = token.other[Rejection.renewedMember]
    }
}

extension TokenRequest {
    /// Whether the request can be answered without a sign-in page: it has no prompt, or `none` (OpenID Connect Core 1.0, 3.1.2.1).
    var needsNoPage: Bool { prompt == nil || prompt == "none" }

    /// The resource indicators, and the audience of an identity's token, as an access token's record stores them; nil if there
    /// are none.
    var resourceKey: String? {
        let audience = identity?.application?.audience.map { ["audience:\($0)"] } ?? []
        let key = (Set(resourceIndicators).sorted() + audience).joined(separator: " ")
        return key.isEmpty ? nil : key
    }
}

extension ExchangedRecord {
    /// Whether it is the result of the request's exchange for its host, client and scopes, of any account.
    func serves(_ request: TokenRequest, at place: AuthorityKey) -> Bool {
        guard let wanted = request.exchange else { return false }
        return exchange == wanted.name && audience.lowercased() == wanted.audience.lowercased() && path == wanted.path
            && clientID.clientKey == request.clientID.clientKey
            && place.scopeKeys(request.exchangeScopes) == place.scopeKeys(scopes)
    }
}

extension GrantedRecord {
    /// From when on it is renewed ahead of time, in seconds since 1970: in the last quarter of its life, or earlier if the authority
    /// wants that; nil if it has no end.
    fileprivate var aheadOn: Int? {
        let quarter = expiresOn.map { SilentSelection.lastQuarter(from: cachedAt, to: $0) }
        return [quarter, refreshOn].compactMap(\.self).min()
    }
}

extension [RefreshTokenRecord] {
    fileprivate var newestFirst: Self {
        sorted { ($0.lastModificationTime ?? 0) > ($1.lastModificationTime ?? 0) }
    }
}

/// When to renew a token that can still be handed out.
public enum RenewalTiming: String, Sendable {
    /// Once the authority wants it renewed (`refresh_in`), by the process that needs it then.
    case whenDue
    /// Ahead of time, by another process: the token is handed out at once, and the process that got it starts the
    /// renewal.
    case byAnother
    /// Ahead of time, by this process: a token that is due isn't handed out, and no lock is waited for.
    case ahead
}

extension SilentSelection {
    /// The lifetime in seconds from which its last quarter is long enough.
    private static let longLife = 2400

    /// Returns when the last quarter of a token's lifetime begins, in seconds since 1970: it is renewed then although it can
    /// still be handed out.
    ///
    /// For a short lifetime, of whose last quarter little remains before the token is no longer handed out, it is the
    /// last quarter of the time for which the token is handed out.
    static func lastQuarter(from cachedAt: Int, to expiresOn: Int) -> Int {
        let life = max(expiresOn - cachedAt, 0)
        if life >= longLife { return expiresOn - life / 4 }
        let buffer = life > expiryBuffer ? expiryBuffer : life / 5
        return expiresOn - buffer - (life - buffer) / 4
    }
}
