import AuthorityPlugin
import MicrosoftIdentity

/// What B2C's policies refuse with: an `AADB2C…` number in the description (learn.microsoft.com/azure/active-directory-b2c/error-codes).
enum PolicyError {
    /// An error for a refusal that only B2C knows, or nil.
    static func explain(_ failure: OAuthFailure, at authority: Authority) -> PluginError? {
        guard let number = number(in: failure.description) else { return nil }
        switch number {
        case 90118:
            return error(
                .interactionRequired, "the password was forgotten, and this policy can't reset it", failure,
                hint: "sign in once with the tenant's password-reset policy, "
                    + "for instance \(resetAuthority(authority)), then again with \(authority.policy ?? "this one")")
        case 90091:
            return error(.cancelled, "the sign-in was cancelled", failure)
        case 90080, 90085, 90088, 90129:
            return error(.interactionRequired, "the session has ended", failure, hint: "sign in again")
        case 90077:
            return error(.interactionRequired, "there is no session to go on with", failure, hint: "sign in again")
        case 90117, 90146:
            return error(
                .invalidRequest, "a scope is not known to this tenant", failure,
                hint: "check the scopes: for B2C they are https://TENANT/APP/SCOPE, or the client id itself")
        case 90006:
            return error(
                .invalidRequest, "the redirect URI is not registered for the application", failure,
                hint: "add http://localhost to the app registration's redirect URIs for mobile and desktop applications"
            )
        default:
            return nil
        }
    }

    private static func error(
        _ code: PluginError.Code, _ message: String, _ failure: OAuthFailure, hint: String? = nil
    ) -> PluginError {
        var error = failure.pluginError(.redemption)
        error.code = code
        error.message = message
        error.hint = hint
        return error
    }

    private static func number(in description: String) -> Int? {
        guard let mark = description.firstRange(of: "AADB2C") else { return nil }
        return Int(description[mark.upperBound...].prefix { $0.isNumber })
    }

    /// The authority with the policy that B2C's guide calls it by; a tenant may have named it otherwise.
    private static func resetAuthority(_ authority: Authority) -> String {
        "https://\(authority.environment)/tfp/\(authority.tenant)/B2C_1_password_reset"
    }
}
