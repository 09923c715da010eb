import MicrosoftIdentity
import OAuth
import PluginWire

/// The errors of B2C's policies: an `AADB2C…` number in the description
/// (learn.microsoft.com/azure/active-directory-b2c/error-codes).
enum PolicyError {
    private static let forgottenPassword = 90118
    private static let cancelled = 90091

    /// Whether the user pressed "forgot your password".
    static func isForgottenPassword(_ error: PluginError) -> Bool {
        error.errorCodes.contains(name(of: forgottenPassword))
    }

    /// Returns an error for refusals that are specific to B2C, or nil.
    static func explain(_ failure: EntraRefusal, at authority: Authority) -> PluginError? {
        guard let number = number(in: failure.description) else { return nil }
        switch number {
        case forgottenPassword:
            return error(
                .interactionRequired, "the password was forgotten, and this policy can't reset it", failure,
                hint: "name the tenant's password-reset policy in the rule, such as "
                    + "reset-policy = \"B2C_1_password_reset\", or with --reset-policy")
        case cancelled:
            return error(.cancelled, "the sign-in was cancelled", failure)
        case 90080, 90085, 90088, 90129:
            return error(.interactionRequired, "the session has ended", failure)
        case 90077:
            return error(.interactionRequired, "there is no session to continue", failure)
        case 90117, 90146:
            return error(
                .invalidRequest, "a scope is not known to this tenant", failure,
                hint: "check the scopes: for B2C they are https://TENANT/APP/SCOPE, or the client ID itself")
        case 90068:
            return error(
                .invalidRequest, "the application is not known to this tenant", failure,
                hint: "check the client ID: it must be an application of the B2C tenant itself")
        case 90079:
            return error(
                .invalidRequest, "the application is registered as a confidential client", failure,
                hint: "register it as a public client, with http://localhost under mobile and desktop applications")
        case 90205:
            return error(
                .invalidRequest, "the application may not use this scope", failure,
                hint: "add the API's permission to the app registration, and grant it as administrator")
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
        _ code: PluginError.Code, _ message: String, _ failure: EntraRefusal, hint: String? = nil
    ) -> PluginError {
        var error = failure.pluginError(.redemption)
        error.code = code
        error.message = message + (number(in: failure.description).map { " (\(name(of: $0)))" } ?? "")
        error.hint = hint
        error.errorCodes = number(in: failure.description).map { [name(of: $0)] } ?? []
        return error
    }

    private static func name(of number: Int) -> String { "AADB2C\(number)" }

    private static func number(in description: String) -> Int? {
        guard let mark = description.firstRange(of: "AADB2C") else { return nil }
        return Int(Substring(description[mark.upperBound...].utf8.prefix { "0123456789".utf8.contains($0) }))
    }
}
