import CredentialProtocol
import JSON
import Rules
import TokenStore

/// What becomes of a token that a consumer says was refused.
///
/// The access token is dropped where it is still the current one: an old refusal never takes a new token away. Where it
/// had just been renewed, renewing doesn't help, so the refresh token is marked, and the next request asks the person.
/// Where the server said which claims it misses, renewing with them may help: they are noted beside the refresh token, for
/// the resource that wants them, until it is redeemed for them or the person signs in.
/// The refresh token itself stays: it may serve elsewhere, and only its authority can say that it is dead.
struct Rejection {
    /// The member of a refresh token's record that holds when its tokens were refused, an object by client: a family's
    /// token goes on to serve the others.
    private static let member = "lanyard_rejected_on"
    /// The member of an access token's record that says it was renewed and not signed in for.
    static let renewedMember = "lanyard_renewed"
    /// The value of that member where claims were asked for as it was renewed.
    static let renewedWithClaims = "claims"
    /// The member of a refresh token's record that holds the claims that servers missed, an object by resource.
    static let claimsMember = "lanyard_missed_claims"
    /// Seconds after a renewal in which a refusal means that renewing doesn't help.
    static let window = 60

    let refused: [AccessTokenRecord]
    let marked: [RefreshTokenRecord]

    init(of token: Secret?, among records: StoredRecords, request: TokenRequest, now: Int) {
        let clientID = request.clientID
        let refused = records.accessTokens.filter { record in
            record.clientID.lowercased() == clientID.lowercased() && (token == nil || record.secret == token)
        }
        self.refused = refused
        let claims = token == nil ? nil : request.claims
        let hopeless = refused.filter { record in
            guard let renewed = record.other[Self.renewedMember], now - record.cachedAt < Self.window else {
                return false
            }
            return claims == nil || renewed.text == Self.renewedWithClaims
        }
        let noted = Self.homes(claims == nil ? [] : refused)
        let rejected = Self.homes(hopeless)
        marked = records.refreshTokens.compactMap { record in
            let home = record.homeAccountID.lowercased()
            let mayServe = record.clientID.lowercased() == clientID.lowercased() || record.familyID != nil
            guard mayServe, noted.union(rejected).contains(home) else { return nil }
            var record = record
            if rejected.contains(home) { Self.mark(.string(String(now)), in: &record, for: request) }
            if noted.contains(home) { Self.note(claims, in: &record, for: request) }
            return record
        }
    }

    private static func homes(_ records: [AccessTokenRecord]) -> Set<String> {
        Set(records.map { $0.homeAccountID.lowercased() })
    }

    /// The claims that a server of the request's resource missed in what this token was redeemed for.
    static func missedClaims(_ token: RefreshTokenRecord, for request: TokenRequest) -> String? {
        token.other[claimsMember]?.members?[request.resource]?.text
    }

    /// Whether renewing with this token was found not to help the request's client.
    static func isMarked(_ token: RefreshTokenRecord, for request: TokenRequest) -> Bool {
        token.other[member]?.members?[request.clientID.lowercased()] != nil
    }

    /// Forgets what was noted, once the token has been redeemed for the request's resource.
    static func forget(in token: inout RefreshTokenRecord, for request: TokenRequest) {
        mark(nil, in: &token, for: request)
        note(nil, in: &token, for: request)
    }

    private static func mark(_ time: JSONValue?, in token: inout RefreshTokenRecord, for request: TokenRequest) {
        var marks = token.other[member]?.members ?? [:]
        marks[request.clientID.lowercased()] = time
        token.other[member] = marks.isEmpty ? nil : .object(marks)
    }

    private static func note(_ claims: String?, in token: inout RefreshTokenRecord, for request: TokenRequest) {
        var missed = token.other[claimsMember]?.members ?? [:]
        missed[request.resource] = claims.map { .string($0) }
        token.other[claimsMember] = missed.isEmpty ? nil : .object(missed)
    }
}

extension TokenRequest {
    /// The resource that the token is for.
    fileprivate var resource: String { scopes.first?.resourceOfScope ?? "" }
}
