import JSON
public import Rules
public import Secrets
import TokenStore

/// What becomes of a token that a consumer says was refused.
///
/// The access token is dropped if it is still the current one: an old refusal never takes a new token away. If it had just
/// been renewed, renewing doesn't help at that place for now, while it may serve at every other: it stays, and the refusal is
/// noted beside the refresh token. So are the claims that the server missed in it, with which renewing may help.
/// If no refresh token is there to note it beside, the access token is dropped all the same.
/// The refresh token itself stays: it may serve elsewhere, and only its authority can say that it is dead.
struct Rejection {
    /// The member of an access token's record that says it was renewed and not signed in for.
    static let renewedMember = "lanyard_renewed"
    /// The value of that member if claims were asked for as it was renewed.
    static let renewedWithClaims = "claims"

    private(set) var dropped: [AccessTokenRecord] = []
    /// Those that stay if what is to be noted is.
    private(set) var kept: [AccessTokenRecord] = []
    /// What is to be noted, by lower-cased account.
    private(set) var refusals: [String: RejectedToken] = [:]
    private let request: TokenRequest

    init(of token: Secret?, among records: StoredRecords, request: TokenRequest, now: Int) {
        self.request = request
        let claims =
            token == nil ? nil : request.claims.flatMap { $0.utf8.count <= RejectedToken.longestClaims ? $0 : nil }
        for record in records.accessTokens where record.clientID.lowercased() == request.clientID.lowercased() {
            guard token.map({ $0 == record.secret }) ?? record.serves(request) else { continue }
            let isHopeless = Self.isHopeless(record, claims, now)
            guard isHopeless || claims != nil else {
                dropped.append(record)
                continue
            }
            kept.append(record)
            refusals[record.homeAccountID.lowercased()] = RejectedToken(
                token: record.secret.reveal().shortDigest, on: now, renewed: isHopeless ? record.cachedAt : nil,
                claims: claims)
        }
    }

    /// Whether a token was renewed so lately that renewing it once more brings the same.
    private static func isHopeless(_ token: AccessTokenRecord, _ claims: String?, _ now: Int) -> Bool {
        guard let renewed = token.other[renewedMember], (0..<RejectedToken.window).contains(now - token.cachedAt) else {
            return false
        }
        return claims == nil || renewed.text == renewedWithClaims
    }

    /// A refresh token with what is to be noted beside it; nil if nothing is.
    func noted(in token: RefreshTokenRecord) -> RefreshTokenRecord? {
        let mayServe = token.clientID.lowercased() == request.clientID.lowercased() || token.familyID != nil
        guard mayServe, let refusal = refusals[token.homeAccountID.lowercased()] else { return nil }
        var token = token
        RejectedTokens.note(refusal, in: &token, for: request)
        return token
    }
}

extension TokenAcquirer {
    /// Seconds to wait for a renewal before a refusal is noted beside its refresh token.
    private static let patience = 60.0

    /// Takes note that a consumer says a token was refused at the request's host and path; no token means whichever is current.
    ///
    /// The request's claims are those that the server missed in it.
    ///
    /// What a token was exchanged for is dropped, and the token stays: it is exchanged anew.
    ///
    /// See `Rejection` for what becomes of a token. A token that isn't stored is no error.
    public func reject(_ token: Secret?, for request: TokenRequest) throws(AcquisitionError) {
        if request.exchange != nil { return try rejectExchanged(token, for: request) }
        let authority = try match(request)
        forgetRemembered(token, for: request, authority.place)
        let records = try stored(for: request, at: authority.place)
        let rejection = Rejection(of: token, among: records, request: request, now: clock())
        try drop(rejection.dropped)
        for dropped in rejection.dropped where dropped.broker != nil { note(refused: dropped.secret, for: request) }
        var noted: Set<String> = []
        for refreshToken in records.refreshTokens where rejection.noted(in: refreshToken) != nil {
            try exclusively(lock(of: refreshToken, authority.place), blockingFor: Self.patience) {
                () throws(AcquisitionError) in
                // A renewal may have replaced it: what is stored by now gets the note.
                let stored = try load(authority.place).refreshTokens.first(where: refreshToken.isSameItem)
                guard let new = stored.flatMap(rejection.noted) else { return }
                try storing { () throws(StoreError) in try store.save([.refreshToken(new)]) }
                noted.insert(new.homeAccountID.lowercased())
            }
        }
        try drop(rejection.kept.filter { !noted.contains($0.homeAccountID.lowercased()) })
    }

    private func drop(_ tokens: [AccessTokenRecord]) throws(AcquisitionError) {
        guard !tokens.isEmpty else { return }
        try storing { () throws(StoreError) in
            _ = try store.deleteUnchanged(tokens.map(CredentialRecord.accessToken))
        }
    }
}
