import CredentialProtocol
import JSON
import TokenStore

/// What becomes of a token that a consumer says was refused.
///
/// The access token is dropped where it is still the current one: an old refusal never takes a new token away. Where it
/// had just been renewed, renewing doesn't help, so the refresh token is marked, and the next request asks the person.
/// The refresh token itself stays: it may serve elsewhere, and only its authority can say that it is dead.
struct Rejection {
    /// The member of a refresh token's record that holds when its tokens were refused.
    static let member = "lanyard_rejected_on"
    /// The member of an access token's record that says it was renewed and not signed in for.
    static let renewedMember = "lanyard_renewed"
    /// Seconds after a renewal in which a refusal means that renewing doesn't help.
    static let window = 60

    let refused: [AccessTokenRecord]
    let marked: [RefreshTokenRecord]

    init(of token: Secret?, among records: StoredRecords, clientID: String, now: Int) {
        let refused = records.accessTokens.filter { record in
            record.clientID.lowercased() == clientID.lowercased() && (token == nil || record.secret == token)
        }
        self.refused = refused
        let hopeless = refused.filter { record in
            record.other[Self.renewedMember] != nil && now - record.cachedAt < Self.window
        }
        let homes = Set(hopeless.map { $0.homeAccountID.lowercased() })
        marked = records.refreshTokens
            .filter {
                homes.contains($0.homeAccountID.lowercased()) && $0.clientID.lowercased() == clientID.lowercased()
            }
            .map { record in
                var record = record
                record.other[Self.member] = .string(String(now))
                return record
            }
    }
}
