import Addresses
import TokenStore

/// The records to remove when clients sign an account out, and the clients that keep some.
///
/// The clients' own tokens are removed. So is the refresh token of a client's family, which would otherwise sign it in
/// again silently; the family's other clients keep their access tokens until these expire. The account is removed with
/// its last token. MSAL for Objective-C removes a client's own tokens as well. MSAL for Python also removes other
/// clients' access tokens "to avoid the complexity of locating" those of siblings; here no other client could expect
/// that. Client metadata stays.
struct SignOutPlan {
    let removed: [CredentialRecord]
    /// The keys of the clients that still have a token of the account.
    let remaining: [String]
    /// The refresh tokens among the removed records.
    var refreshTokens: [RefreshTokenRecord] {
        removed.compactMap { if case .refreshToken(let token) = $0 { token } else { nil } }
    }

    /// Makes the plan from the records of one account and its environment.
    ///
    /// - Parameters:
    ///   - records: The account's stored records, and the metadata of clients.
    ///   - clientIDs: The keys of the clients that sign out; nil for every client.
    init(_ records: StoredRecords, clientIDs: Set<String>?) {
        let tokens = records.all.filter { $0.clientID != nil && $0.homeAccountID != nil }
        let accounts = records.accounts.map(CredentialRecord.account)
        guard let clientIDs else {
            removed = tokens + accounts
            remaining = []
            return
        }
        let members = records.appMetadata.filter { clientIDs.contains($0.clientID.clientKey) }
        let families = Set(members.compactMap(\.familyID).filter { !$0.isEmpty })
        func goes(_ record: CredentialRecord) -> Bool {
            if case .refreshToken(let token) = record, let family = token.familyID, families.contains(family) {
                return true
            }
            return record.clientID.map { clientIDs.contains($0.clientKey) } ?? false
        }
        let left = tokens.filter { !goes($0) }
        removed = tokens.filter(goes) + (left.isEmpty ? accounts : [])
        remaining = Set(left.compactMap { $0.clientID?.clientKey }).sorted()
    }
}
