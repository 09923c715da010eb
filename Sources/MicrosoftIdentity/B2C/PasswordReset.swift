import Claims
import OAuth
import PluginKit
import PluginOAuth
import PluginWire
import Secrets

extension AuthoritySession {
    /// Whether an error requires the password-reset policy.
    func resetsPassword(after error: PluginError) -> Bool {
        request.signIn.resetPolicy != nil && profile.forgottenPassword.map(error.errorCodes.contains) == true
    }

    /// Runs B2C's password-reset policy before the sign-in policy continues.
    ///
    /// The sign-in page of an older user flow has a link for it, and the application must open the other policy's page
    /// (learn.microsoft.com/azure/active-directory-b2c/add-password-reset-policy). That policy's tokens belong to a
    /// separate account, so they are dropped.
    ///
    /// - Throws: `cancelled` if the user doesn't reset the password, or the policy's refusal.
    func resetPassword(_ flows: [OAuth.Flow], _ person: any Conversation) async throws(PluginError) {
        await person.progress("the password has to be reset first, on a separate page")
        var request = request
        request.authority = try resetAuthority().url
        request.signIn.prompt = nil
        request.claims = nil
        request.signIn.resetPolicy = nil
        var reset = try await Self.open(request, profile: profile, over: transport)
        reset.success = .passwordReset
        _ = try await reset.signIn(flows, person)
        await person.progress("the password is reset; now sign in with it")
    }

    private func resetAuthority() throws(PluginError) -> Authority {
        let policy = request.signIn.resetPolicy ?? ""
        do throws(AuthorityError) {
            return try authority.replacingPolicy(policy)
        } catch {
            throw PluginError(
                .invalidRequest, "\(policy.displayable(limit: 80)) is not the name of a policy",
                hint: "name the tenant's password-reset policy as reset-policy, such as B2C_1_password_reset")
        }
    }
}

extension LoopbackPage {
    static let forgottenPassword = LoopbackPage(
        .wait, title: "Reset your password",
        text: "lanyard opens the page for it; the sign-in continues after that. You can close this page.")
    static let passwordReset = LoopbackPage(
        .done, title: "Your password is reset",
        text: "The sign-in continues on a page that lanyard opens. You can close this page.")
}
