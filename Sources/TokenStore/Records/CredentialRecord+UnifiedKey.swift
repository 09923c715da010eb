extension CredentialRecord {
    /// The key it is filed under in the unified JSON, as MSAL for Python composes it; a family's refresh token as .NET and Go do.
    ///
    /// They put the family in the client's place, so that a client's own token and its family's are two entries. A record is found
    /// by its fields, never by its key: caches in the wild hold entries under keys that other versions composed differently.
    package var unifiedKey: String {
        let owner = [homeAccountID ?? "", environment]
        let parts: [String] =
            switch self {
            case .accessToken(let token):
                owner + ["accesstoken", token.clientID, token.realm, token.target]
                    + (token.isBearer ? [] : [token.tokenType])
            case .refreshToken(let token):
                owner + ["refreshtoken", token.familyID ?? token.clientID, "", token.target]
            case .idToken(let token): owner + ["idtoken", token.clientID, token.realm, ""]
            case .account(let account): owner + [account.realm]
            case .appMetadata(let metadata): ["appmetadata", metadata.environment, metadata.clientID]
            // MSAL has no such thing.
            case .exchanged(let result):
                owner + ["exchanged", result.clientID, result.realm, result.exchange, result.audience, result.path]
            }
        return parts.joined(separator: "-").lowercased()
    }
}
