import OAuth
import PluginWire

// The errors of B2C's policies: an `AADB2C…` number in the description
// (learn.microsoft.com/azure/active-directory-b2c/error-codes).
extension EntraRefusal {
    /// The user pressed "forgot your password".
    static let forgottenPassword = name(of: 90118)

    /// Returns an error for refusals that are specific to B2C, or nil.
    static func ofPolicy(_ failure: EntraRefusal, at authority: Authority) -> PluginError? {
        guard let number = number(behind: "AADB2C", in: failure.description),
            let meaning = meaning(of: number)
        else { return nil }
        var error = failure.pluginError(.redemption)
        error.code = meaning.code
        error.message = "\(meaning.message) (\(name(of: number)))"
        error.hint = meaning.hint
        error.errorCodes = [name(of: number)]
        return error
    }

    private static func meaning(of number: Int) -> PluginError? {
        switch number {
        case 90118:
            PluginError(
                .interactionRequired, "the password was forgotten, and this policy can't reset it",
                hint: "name the tenant's password-reset policy in the rule, such as "
                    + "reset-policy = \"B2C_1_password_reset\", or with --reset-policy")
        case 90091: PluginError(.cancelled, "the sign-in was cancelled")
        case 90080, 90085, 90088, 90129: PluginError(.interactionRequired, "the session has ended")
        case 90077: PluginError(.interactionRequired, "there is no session to continue")
        case 90117, 90146:
            PluginError(
                .invalidRequest, "a scope is not known to this tenant",
                hint: "check the scopes: for B2C they are https://TENANT/APP/SCOPE, or the client ID itself")
        case 90068:
            PluginError(
                .invalidRequest, "the application is not known to this tenant",
                hint: "check the client ID: it must be an application of the B2C tenant itself")
        case 90079:
            PluginError(
                .invalidRequest, "the application is registered as a confidential client",
                hint: "register it as a public client, with http://localhost under mobile and desktop applications")
        case 90205:
            PluginError(
                .invalidRequest, "the application may not use this scope",
                hint: "add the API's permission to the app registration, and grant it as administrator")
        case 90006:
            PluginError(
                .invalidRequest, "the redirect URI is not registered for the application",
                hint: "add http://localhost to the app registration's redirect URIs for mobile and desktop applications"
            )
        default: nil
        }
    }

    private static func name(of number: Int) -> String { "AADB2C\(number)" }
}
