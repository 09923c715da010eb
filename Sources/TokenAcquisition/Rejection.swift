import JSON
import PluginHost
import Rules
import Secrets
import TokenStore

/// The consequences of a consumer's report that a token was refused.
///
/// The access token is dropped if it is still the current one, so that an old refusal never removes a new token. A
/// token that had just been renewed stays: renewing it again wouldn't help at that place for now, but the token may
/// work elsewhere. The refusal is then noted in the refresh token's record, along with the claims that the server asked
/// for, because renewing with these may help. If there is no refresh token to note it in, the access token is dropped
/// anyway. The refresh token stays: it may be useful elsewhere, and only its authority can say that it is invalid.
struct Rejection {
    /// The member of an access token's record that says that it came from a renewal rather than a sign-in.
    static let renewedMember = "lanyard_renewed"
    /// The value of that member if the renewal requested claims.
    static let renewedWithClaims = "claims"

    private(set) var dropped: [AccessTokenRecord] = []
    /// The access tokens that stay, provided that the refusal can be noted.
    private(set) var kept: [AccessTokenRecord] = []
    /// The refusals to note, by lower-cased account.
    private(set) var refusals: [String: RejectedToken] = [:]
    private let request: TokenRequest

    init(of token: Secret?, among records: StoredRecords, request: TokenRequest, now: Int) {
        self.request = request
        let claims =
            token == nil ? nil : request.claims.flatMap { $0.utf8.count <= RejectedToken.longestClaims ? $0 : nil }
        for record in records.accessTokens where record.clientID.lowercased() == request.clientID.lowercased() {
            guard token.map({ $0 == record.secret }) ?? record.serves(request) else { continue }
            let isHopeless = Self.isHopeless(record, claims, now)
            guard let account = record.homeAccountID?.lowercased(), isHopeless || claims != nil else {
                dropped.append(record)
                continue
            }
            kept.append(record)
            refusals[account] = RejectedToken(
                token: record.secret.reveal().shortDigest, on: now, renewed: isHopeless ? record.cachedAt : nil,
                claims: claims)
        }
    }

    /// Whether a token was renewed so recently that another renewal would return the same.
    private static func isHopeless(_ token: AccessTokenRecord, _ claims: String?, _ now: Int) -> Bool {
        guard let renewed = token.other[renewedMember], (0..<RejectedToken.window).contains(now - token.cachedAt) else {
            return false
        }
        return claims == nil || renewed.text == renewedWithClaims
    }

    /// Returns a refresh token's record with the refusal noted; nil if there is nothing to note.
    func noted(in token: RefreshTokenRecord) -> RefreshTokenRecord? {
        let mayServe = token.clientID.lowercased() == request.clientID.lowercased() || token.familyID != nil
        guard mayServe, let refusal = refusals[token.homeAccountID.lowercased()] else { return nil }
        var token = token
        RejectedTokens.note(refusal, in: &token, for: request)
        return token
    }
}

/// Drops tokens that servers refuse, or notes the refusals.
struct RefusedTokens: Sendable {
    let keeper: RecordKeeper
    let identities: IdentityRecords
    let notes: SharedNotes

    /// Seconds to wait for a running renewal before a refusal is noted in its refresh token's record.
    private static let patience = 60.0

    /// Does what follows from a refusal at the request's host and path; nil stands for the current token.
    ///
    /// See `Rejection` for the consequences.
    func reject(
        _ token: Secret?, for request: TokenRequest, at authority: AuthorityMatch
    ) throws(AcquisitionError) {
        guard request.identity == nil else {
            return try storing { () throws(StoreError) in try identities.drop(token, for: request, at: authority.place)
            }
        }
        if request.exchange != nil { return try rejectExchanged(token, for: request, at: authority.place) }
        let records = try keeper.load(authority.place)
        let rejection = Rejection(of: token, among: records, request: request, now: keeper.clock())
        try keeper.deleteUnchanged(rejection.dropped.map(CredentialRecord.accessToken))
        for dropped in rejection.dropped where dropped.broker != nil { note(refused: dropped.secret, for: request) }
        var noted: Set<String?> = []
        for refreshToken in records.refreshTokens where rejection.noted(in: refreshToken) != nil {
            try keeper.locks.exclusively(keeper.lock(of: refreshToken, authority.place), blockingFor: Self.patience) {
                () throws(AcquisitionError) in
                // A renewal may have replaced the refresh token: note the refusal in the one that is stored now.
                let stored = try keeper.load(authority.place).refreshTokens.first(where: refreshToken.isSameItem)
                guard let new = stored.flatMap(rejection.noted) else { return }
                try keeper.save([.refreshToken(new)])
                noted.insert(new.homeAccountID.lowercased())
            }
        }
        let left = rejection.kept.filter { !noted.contains($0.homeAccountID?.lowercased()) }
        try keeper.deleteUnchanged(left.map(CredentialRecord.accessToken))
    }

    /// Forgets a credential that a consumer reports as refused; nil stands for the current one.
    private func rejectExchanged(
        _ refused: Secret?, for request: TokenRequest, at place: AuthorityPlace
    ) throws(AcquisitionError) {
        let dropped = try keeper.load(place).exchanged.filter { result in
            result.serves(request) && refused.map { $0 == result.secret } ?? true
        }
        try keeper.deleteUnchanged(dropped.map(CredentialRecord.exchanged))
    }

    /// Records that a server refused the broker's token, because the broker may return it again.
    private func note(refused token: Secret, for request: TokenRequest) {
        notes.leaveTime(about: Self.refusal(of: token, for: request))
    }

    /// Whether a server refused this exact token at the request's place within the last minute.
    func wasJustRefused(_ token: Secret, for request: TokenRequest) -> Bool {
        notes.happened(Self.refusal(of: token, for: request), within: RejectedToken.window * 1000)
    }

    private static func refusal(of token: Secret, for request: TokenRequest) -> String {
        ["refused of broker", token.reveal().shortDigest, request.host ?? "", request.path ?? ""].joined(
            separator: "\n")
    }
}
