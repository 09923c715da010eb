import Addresses
import OAuth

/// A token response, validated by the standards' rules.
struct IssuerTokens: Sendable, Equatable {
    /// The granted scopes.
    let scopes: [String]
    /// The requested scopes that weren't granted.
    let declined: [String]

    /// Validates a response.
    ///
    /// - Throws: `broken` if it lacks anything that RFC 6749, 5.1, requires, or contains invalid values.
    init(
        _ response: TokenResponse, asked: [String], _ traits: IssuerTraits, from authority: String
    ) throws(OAuthError) {
        guard response.tokenType != nil else {
            throw OAuthError(.broken, "\(authority) does not say of which type its token is")
        }
        if let told = response.members(Members.self)?.expires_in?.value, told < 0 {
            throw OAuthError(.broken, "\(authority) gave a token that ended before it began")
        }
        let text = response.scope ?? ""
        let granted = ScopeText.split(traits.answersForms ? text.replacing(bytes: ",", with: " ") : text)
        scopes = granted.isEmpty ? asked : granted
        declined = asked.filter { [scopes] in !scopes.contains($0) }
    }

    private struct Members: Decodable {
        var expires_in: LenientNumber?
    }
}
