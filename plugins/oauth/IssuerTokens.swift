import Addresses
import OAuth

/// The scopes of a token response.
struct IssuerTokens: Sendable, Equatable {
    /// The granted scopes.
    let scopes: [String]
    /// The requested scopes that weren't granted.
    let declined: [String]

    /// Compares a response with what was requested; one that names no scopes grants them all (RFC 6749, 5.1).
    init(_ response: TokenResponse, asked: [String]) {
        // GitHub and others put commas between scopes, which may also be part of one (RFC 6749, 3.3).
        let granted = ScopeText.split(response.scope ?? "").flatMap { scope in
            asked.contains(scope) ? [scope] : ScopeText.split(scope.replacing(bytes: ",", with: " "))
        }
        let missing = granted.isEmpty ? asked : asked.filter { !granted.contains($0) }
        declined = granted.isEmpty ? [] : missing.filter { !ScopeText.isOpenID($0) }
        scopes = granted + missing.filter { [declined] in !declined.contains($0) }
    }
}
