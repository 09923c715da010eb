import TokenStore

/// What goes when clients sign an account out, and who has something of it afterwards.
///
/// A client's own tokens go. So does the refresh token of its family, which would sign it in again without a word; the
/// family's other clients keep what they have until it ends. The account itself goes with the last token of it. MSAL for
/// Objective-C removes a client's own as well; MSAL for Python removes other clients' access tokens too, "to avoid the
/// complexity of locating" its siblings', which no other client could expect here. What is known of clients stays.
struct SignOutPlan {
    let removed: [CredentialRecord]
    /// The clients that still have a token of the account, lower-cased.
    let remaining: [String]

    /// Plans among the records of one account and its environment.
    ///
    /// - Parameters:
    ///   - records: what is stored of the account, and the metadata of clients.
    ///   - clientIDs: whose sign-out it is, lower-cased; nil for every client's.
    init(_ records: StoredRecords, clientIDs: Set<String>?) {
        let tokens = records.all.filter { $0.clientID != nil && $0.homeAccountID != nil }
        let accounts = records.accounts.map(CredentialRecord.account)
        guard let clientIDs else {
            removed = tokens + accounts
            remaining = []
            return
        }
        let members = records.appMetadata.filter { clientIDs.contains($0.clientID.lowercased()) }
        let families = Set(members.compactMap(\.familyID).filter { !$0.isEmpty })
        func goes(_ record: CredentialRecord) -> Bool {
            if case .refreshToken(let token) = record, let family = token.familyID, families.contains(family) {
                return true
            }
            return record.clientID.map { clientIDs.contains($0.lowercased()) } ?? false
        }
        let left = tokens.filter { !goes($0) }
        removed = tokens.filter(goes) + (left.isEmpty ? accounts : [])
        remaining = Set(left.compactMap { $0.clientID?.lowercased() }).sorted()
    }
}
