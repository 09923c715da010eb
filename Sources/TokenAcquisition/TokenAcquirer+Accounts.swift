import AuthorityPlugin
public import CredentialProtocol
public import Rules
public import TokenStore

extension TokenAcquirer {
    /// Takes note that a consumer says a token was refused; no token means whichever is current.
    ///
    /// The request's claims are those that the server missed in it.
    ///
    /// See `Rejection` for what becomes of it. A token that isn't stored is no error.
    public func reject(_ token: Secret?, for request: TokenRequest) throws(AcquisitionError) {
        let authority = try match(request)
        let records = try load(authority.place)
        let rejection = Rejection(of: token, among: records, request: request, now: clock())
        try storing { () throws(StoreError) in
            if !rejection.marked.isEmpty { try store.save(rejection.marked.map(CredentialRecord.refreshToken)) }
            if !rejection.refused.isEmpty { _ = try store.delete(rejection.refused.map(CredentialRecord.accessToken)) }
        }
    }

    /// Signs an account out of a client: removes what that client has of it, and no other client's.
    ///
    /// The account itself goes where no client has a token of it any more. Tells how many records were removed.
    public func signOut(_ account: AccountRecord, clientID: String) throws(AcquisitionError) -> Int {
        try storing { () throws(StoreError) in
            let query = RecordQuery(homeAccountID: account.homeAccountID)
            let records = try store.records(matching: query).all
            let tokens = records.filter { $0.clientID != nil && $0.homeAccountID != nil }
            let own = tokens.filter { $0.clientID?.lowercased() == clientID.lowercased() }
            var removed = try store.delete(own)
            if tokens.count == own.count {
                removed += try store.delete(records.filter { if case .account = $0 { true } else { false } })
            }
            return removed
        }
    }

    /// Every account in the group, and the clients that have a token of it.
    public func allAccounts() throws(AcquisitionError) -> [(account: AccountRecord, clientIDs: [String])] {
        let records = try storing { () throws(StoreError) in try store.records(matching: .all) }
        let tokens = records.all.filter { $0.clientID != nil }
        return records.accounts.map { account in
            let clients = tokens.filter { $0.homeAccountID?.lowercased() == account.homeAccountID.lowercased() }
            return (account, Set(clients.compactMap { $0.clientID?.lowercased() }).sorted())
        }
    }
}
