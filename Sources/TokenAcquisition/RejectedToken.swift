import Addresses
import AnswerCache
import JSON
import Keyring
import Model
import PluginHost
import Rules
import Secrets

/// The last token that was refused at one place, and those before it; a place is a host, or a path on a host if the tool
/// sends paths.
struct RejectedToken: Equatable, Sendable {
    /// Seconds after a renewal in which a refusal means that renewing doesn't help; no other renewal is tried for it.
    static let window = 60
    /// Seconds for which a refusal counts; no access token is valid for much longer.
    static let lifetime = 86_400
    /// The longest claims that are stored, in bytes.
    static let longestClaims = 8192
    /// How many of the tokens before it are stored.
    static let mostEarlier = 7

    /// The digest of the token; empty if the token isn't known.
    var token: String
    /// When it was refused, in seconds since 1970.
    var on: Int
    /// When the token was renewed, if renewing it again doesn't help for now.
    var renewed: Int?
    /// The claims that the server asked for when it refused the token.
    var claims: String?
    /// The digests of tokens that were refused there before, the newest first.
    ///
    /// Some may still be stored: two tokens for the same place may differ in scopes, and reports of refusals may come late.
    var earlier: [String] = []

    /// The digests of all tokens that were refused there.
    var tokens: [String] { [token] + earlier }

    /// Returns the seconds until renewing may help again; nil if it may now.
    func remaining(at now: Int) -> Int? {
        guard let renewed, (0..<Self.window).contains(now - renewed) else { return nil }
        return renewed + Self.window - now
    }

    /// The part that remains once another token was acquired: that this one was refused.
    var settled: RejectedToken { RejectedToken(token: token, on: on, earlier: earlier) }

    /// The part that remains once a token counts as new, although it was refused; nil if nothing does.
    func forgetting(_ token: String) -> RejectedToken? {
        let left = tokens.filter { $0 != token }
        return left.first.map { RejectedToken(token: $0, on: on, earlier: Array(left.dropFirst())) }
    }

    /// Returns the newer of two refusals at the same place, with the tokens of both.
    func joined(_ other: RejectedToken) -> RejectedToken {
        var (newer, older) = other.on > on ? (other, self) : (self, other)
        let rest = (newer.earlier + older.tokens).filter { $0 != newer.token }
        newer.earlier = Array(rest.uniqued.prefix(Self.mostEarlier))
        return newer
    }

    /// Whether the refusal still counts.
    func isAlive(at now: Int) -> Bool { (0..<Self.lifetime).contains(now - on) }

    /// Whether this refusal rules out a token at the place.
    func excludes(_ token: AccessTokenRecord) -> Bool {
        if tokens.contains(token.secret.reveal().shortDigest) { return true }
        guard claims != nil, let renewed = token.other[Rejection.renewedMember] else { return false }
        return renewed.text != Rejection.renewedWithClaims
    }
}

extension RejectedToken {
    init?(_ json: JSONValue) {
        guard let token = json["token"]?.text, let on = json["on"]?.time else { return nil }
        self.init(
            token: token, on: on, renewed: json["renewed"]?.time, claims: json["claims"]?.text,
            earlier: (json["earlier"]?.elements ?? []).compactMap(\.text))
    }

    var json: JSONValue {
        var members: [String: JSONValue] = ["token": .string(token), "on": .string(String(on))]
        members["renewed"] = renewed.map { .string(String($0)) }
        members["claims"] = claims.map { .string($0) }
        if !earlier.isEmpty { members["earlier"] = .array(earlier.map { .string($0) }) }
        return .object(members)
    }
}

// The refusals of tokens that a refresh token was redeemed for, as stored in its record: by client, because a family's
// refresh token continues to serve the other clients, and by place.
extension RefreshTokenRecord {
    private static let refusals = "lanyard_refusals"
    /// The highest number of places of refusals that are stored.
    static let mostRefusals = 32

    /// Returns the refusals that apply to a request now: those at its path, then those at its host.
    func refusals(of request: TokenRequest, now: Int) -> [RejectedToken] {
        let places = refusals(of: request.clientID)
        // Most tokens were never refused, and digests take time.
        return places.isEmpty ? [] : request.places.compactMap { places[$0] }.filter { $0.isAlive(at: now) }
    }

    /// Returns the digests of the tokens that were refused anywhere.
    func refusedTokens(now: Int) -> Set<String> {
        let clients = (other[Self.refusals]?.members ?? [:]).keys
        return Set(clients.flatMap { refusals(of: $0).values.filter { $0.isAlive(at: now) }.flatMap(\.tokens) })
    }

    /// Records a refusal at the request's place.
    ///
    /// One that is older than what is recorded there came late, and decides only about its own token.
    mutating func note(_ refusal: RejectedToken, for request: TokenRequest) {
        var places = refusals(of: request.clientID).filter { $0.value.isAlive(at: max(refusal.on, $0.value.on)) }
        let place = request.places[0]
        places[place] = places[place].map(refusal.joined) ?? refusal
        setRefusals(places, of: request.clientID.clientKey)
    }

    /// Clears the refusals that a new token resolves: all at its place, and the same claims elsewhere.
    ///
    /// The digests of refused tokens stay: the refused token is stored until the new one is, and a process that reads
    /// the store in between must not use it. If the authority returned the refused token again, it counts as new.
    mutating func settleRefusals(of request: TokenRequest, by accessToken: Secret, now: Int) {
        let here = request.places
        var places = refusals(of: request.clientID).filter { $0.value.isAlive(at: now) }
        for (place, refusal) in places {
            if here.contains(place) {
                places[place] = refusal.forgetting(accessToken.reveal().shortDigest)
            } else if let claims = request.claims, refusal.claims == claims {
                places[place] = refusal.settled
            }
        }
        setRefusals(places, of: request.clientID.clientKey)
    }

    /// Copies the list of refused tokens from a record that this one is about to replace.
    mutating func carryRefusals(from replaced: RefreshTokenRecord, now: Int) {
        for client in (replaced.other[Self.refusals]?.members ?? [:]).keys {
            let old = replaced.refusals(of: client).filter { $0.value.isAlive(at: now) }.mapValues(\.settled)
            setRefusals(old.merging(refusals(of: client)) { $1 }, of: client)
        }
    }

    private func refusals(of clientID: String) -> [String: RejectedToken] {
        let stored = other[Self.refusals]?.members?[clientID.clientKey]?.members ?? [:]
        return stored.compactMapValues(RejectedToken.init)
    }

    private mutating func setRefusals(_ places: [String: RejectedToken], of client: String) {
        let newest = places.sorted { ($0.value.on, $0.key) > ($1.value.on, $1.key) }.prefix(Self.mostRefusals)
        let members = Dictionary(uniqueKeysWithValues: newest.map { ($0.key, $0.value.json) })
        var clients = other[Self.refusals]?.members ?? [:]
        clients[client] = members.isEmpty ? nil : .object(members)
        other[Self.refusals] = clients.isEmpty ? nil : .object(clients)
    }
}

extension TokenRequest {
    fileprivate var resource: String { scopes.first?.resourceOfScope ?? "" }

    /// Digests of where the token is presented: the path first if there is one, then the host; a path may be private.
    fileprivate var places: [String] {
        let whole = ["\(resource)\n\(host ?? "")".shortDigest]
        guard let path, !path.isEmpty else { return whole }
        return ["\(resource)\n\(host ?? "")\n\(path)".shortDigest] + whole
    }
}

/// The consequences of a tool's report that a token was refused.
///
/// The access token is dropped if it is still the current one, so that an old refusal never removes a new token. A
/// token that had just been renewed stays: renewing it again wouldn't help at that place for now, but the token may
/// work elsewhere. The refusal is then noted in the refresh token's record, along with the claims that the server asked
/// for, because renewing with these may help. If there is no refresh token to note it in, the access token is dropped
/// anyway. The refresh token stays: it may be useful elsewhere, and only its authority can say that it is invalid.
struct Rejection {
    /// The member of a token's record that says that it came from a renewal rather than a sign-in.
    static let renewedMember = "lanyard_renewed"
    /// The value of that member if the renewal requested claims.
    static let renewedWithClaims = "claims"

    private(set) var dropped: [AccessTokenRecord] = []
    /// The access tokens that stay, provided that the refusal can be noted.
    private(set) var kept: [AccessTokenRecord] = []
    /// The refusals to note, by lower-cased account.
    private(set) var refusals: [String: RejectedToken] = [:]
    private let request: TokenRequest

    /// Decides about refused tokens that the request may have got.
    init(of refused: [AccessTokenRecord], for request: TokenRequest, now: Int) {
        self.request = request
        let claims = request.claims.flatMap { $0.utf8.count <= RejectedToken.longestClaims ? $0 : nil }
        for record in refused {
            let wasJustRenewed = Self.wasJustRenewed(record, claims, now)
            guard let account = record.homeAccountID?.lowercased(), wasJustRenewed || claims != nil else {
                dropped.append(record)
                continue
            }
            kept.append(record)
            refusals[account] = RejectedToken(
                token: record.secret.fingerprint, on: now, renewed: wasJustRenewed ? min(record.cachedAt, now) : nil,
                claims: claims)
        }
    }

    /// Whether a token was renewed so recently that another renewal would return the same.
    ///
    /// An ID token's time is by the issuer's clock, which may be ahead.
    static func wasJustRenewed(_ token: AccessTokenRecord, _ claims: String?, _ now: Int) -> Bool {
        guard let renewed = token.other[renewedMember],
            (-SilentSelection.expiryBuffer..<RejectedToken.window).contains(now - token.cachedAt)
        else { return false }
        return claims == nil || renewed.text == renewedWithClaims
    }

    /// Returns a refresh token's record with the refusal noted; nil if there is nothing to note.
    func noted(in token: RefreshTokenRecord) -> RefreshTokenRecord? {
        let mayServe = token.clientID.clientKey == request.clientID.clientKey || token.familyID != nil
        guard mayServe, let refusal = refusals[token.homeAccountID.lowercased()] else { return nil }
        var token = token
        token.note(refusal, for: request)
        return token
    }
}

/// The tokens, or results of exchanges, that are refused or no longer wanted.
public enum RefusalScope: Sendable, Equatable {
    /// The one that the request would get now, and no other account's.
    case current
    /// Those with one of these fingerprints, whosever they are.
    case these(Set<String>)
}

/// Drops tokens that servers refuse, or notes the refusals.
struct RefusedTokens: Serviced {
    let services: AcquisitionServices

    /// Seconds to wait for a running renewal before a refusal is noted in its refresh token's record.
    private static let patience = 60.0

    /// Does what follows from a refusal of the tokens with these fingerprints, whosever they are and wherever they are
    /// stored.
    ///
    /// See `Rejection` for the consequences, which depend on the request: the first one that may have got the token. A
    /// token that no server reported, or that none of the requests gets, is dropped; so is the result of an exchange.
    ///
    /// - Returns: Whether any is stored.
    func reject(
        _ fingerprints: Set<String>, for requests: [(wanted: TokenRequest, authority: AuthorityMatch)], isReported: Bool
    ) throws(AcquisitionError) -> Bool {
        var isFound = false
        for (request, authority) in requests where request.identity != nil {
            isFound = identityRecords.forget(fingerprints, for: request, at: authority.key) || isFound
        }
        // Most machines that identities work on have no keyring, and nobody is asked to unlock one for them.
        let isForIdentities = !requests.isEmpty && requests.allSatisfy { $0.wanted.identity != nil }
        guard let records = isForIdentities ? identityRecords.all() : try keeper.loadAll() else { return isFound }
        let exchanged = records.exchanged.filter { !fingerprints.isDisjoint(with: $0.fingerprints) }
        var left =
            (records.accessTokens.map(CredentialRecord.accessToken) + records.idTokens.map(CredentialRecord.idToken))
            .filter { $0.token.map { fingerprints.contains($0.fingerprint) } ?? false }
        isFound = isFound || !left.isEmpty || !exchanged.isEmpty
        try keeper.deleteUnchanged(exchanged.map(CredentialRecord.exchanged))
        for (request, authority) in requests where isReported && request.identity == nil {
            let own = left.filter { $0.answer(to: request)?.mayHaveAnswered(request, at: authority.key) ?? false }
            left.removeAll(where: own.contains)
            guard !own.isEmpty else { continue }
            try reject(own, among: records.kept(under: authority.key.aliases), for: request, authority.key)
        }
        try keeper.deleteUnchanged(left)
        return isFound
    }

    private func reject(
        _ refused: [CredentialRecord], among records: StoredRecords, for request: TokenRequest, _ place: AuthorityKey
    ) throws(AcquisitionError) {
        let rejection = Rejection(of: refused.compactMap { $0.answer(to: request) }, for: request, now: clock())
        try keeper.deleteUnchanged(refused.filter { $0.isOne(of: rejection.dropped) })
        for dropped in rejection.dropped where dropped.broker != nil { note(refused: dropped.secret, for: request) }
        var noted: Set<String?> = []
        for refreshToken in records.refreshTokens where rejection.noted(in: refreshToken) != nil {
            try locks.exclusively(keeper.lock(of: refreshToken, place), blockingFor: Self.patience) {
                () throws(AcquisitionError) in
                // A renewal may have replaced the refresh token: note the refusal in the one that is stored now.
                let stored = try keeper.load(place).refreshTokens.first(where: refreshToken.isSameItem)
                guard let new = stored.flatMap(rejection.noted) else { return }
                try keeper.save([.refreshToken(new)])
                noted.insert(new.homeAccountID.lowercased())
            }
        }
        let left = rejection.kept.filter { !noted.contains($0.homeAccountID?.lowercased()) }
        try keeper.deleteUnchanged(refused.filter { $0.isOne(of: left) })
    }

    /// Records that a server refused the broker's token, because the broker may return it again.
    private func note(refused token: Secret, for request: TokenRequest) {
        services.notes.noteTime(about: Self.refusal(of: token, for: request))
    }

    /// Whether a server refused this exact token at the request's place within the last minute.
    func wasJustRefused(_ token: Secret, for request: TokenRequest) -> Bool {
        services.notes.happened(Self.refusal(of: token, for: request), within: RejectedToken.window * 1000)
    }

    private static func refusal(of token: Secret, for request: TokenRequest) -> String {
        ["refused of broker", token.fingerprint, request.host ?? "", request.path ?? ""].joined(
            separator: "\n")
    }
}

extension CredentialRecord {
    /// The token that a request may have got from this record; nil if it is of another kind than the request's.
    fileprivate func answer(to request: TokenRequest) -> AccessTokenRecord? {
        switch self {
        case .accessToken(let token) where request.token == .access: token
        case .idToken(let token) where request.token == .id: AccessTokenRecord(handingOut: token, for: request)
        default: nil
        }
    }

    fileprivate func isOne(of tokens: [AccessTokenRecord]) -> Bool { tokens.contains { $0.secret == token } }
}

extension AccessTokenRecord {
    /// Whether it is of the request's authority, client and scopes, for whichever account.
    fileprivate func mayHaveAnswered(_ request: TokenRequest, at place: AuthorityKey) -> Bool {
        serves(request, at: place) && place.aliases.contains(environment.lowercased())
    }
}
