import Claims
import OAuth
import PluginKit
import PluginOAuth
import PluginWire
import Secrets

extension AuthoritySession {
    /// Returns the page for a successful sign-in: the account, and the resource or authority.
    func page(with result: PluginResult) -> LoopbackPage {
        var page = success
        page.facts = request.facts(account: result.account?.username, authority: authority.url)
        return page
    }

    /// Returns the page for a refusal by its AADSTS code: the reason, and the details that an administrator needs.
    func page(after error: OAuthError) -> LoopbackPage {
        let told = pluginError(error)
        if resetsPassword(after: told) { return .forgottenPassword }
        let refusal: EntraRefusal? =
            if case .refused(let response, _) = error.kind { EntraRefusal(response) } else { nil }
        var page = endedByUser(told, refusal) ?? failure(told, refusal)
        page.facts = request.facts(account: request.signIn.loginHint, authority: authority.url)
        return page
    }

    /// Returns the page for a sign-in that the user declined; nil if the authority refused.
    ///
    /// Which of B2C's errors mean that is decided by B2C's plugin, through the error code.
    private func endedByUser(_ told: PluginError, _ refusal: EntraRefusal?) -> LoopbackPage? {
        guard told.code == .cancelled else { return nil }
        guard let refusal, authority.kind != .b2c else { return .declined }
        return switch refusal.declined {
        case .consent: .declinedConsent
        case .signIn: .declined
        case nil: nil
        }
    }

    private func failure(_ told: PluginError, _ refusal: EntraRefusal?) -> LoopbackPage {
        var page = LoopbackPage(explaining: told)
        page.quote = refusal?.summary ?? told.message.asSentence
        page.report = Self.report(told, refusal)
        return page
    }

    private static func report(_ error: PluginError, _ refusal: EntraRefusal?) -> [LoopbackPage.Fact] {
        let codes = error.errorCodes.joined(separator: ", ")
        return [
            .init("Error code", codes.isEmpty ? error.error : codes), .init("Correlation ID", refusal?.correlationID),
            .init("Trace ID", refusal?.traceID), .init("Time", refusal?.timestamp),
        ].compactMap(\.self)
    }

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
    func resetPassword(_ flows: [OAuth.Flow], _ user: any Conversation) async throws(PluginError) {
        await user.progress("the password has to be reset first, on a separate page")
        var request = request
        request.authority = try resetAuthority().url
        request.signIn.prompt = nil
        request.claims = nil
        request.signIn.resetPolicy = nil
        var reset = try await Self.open(request, profile: profile, over: transport)
        reset.success = .passwordReset
        _ = try await reset.signIn(flows, user)
        await user.progress("the password is reset; now sign in with it")
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
    fileprivate static let declinedConsent = LoopbackPage(
        .stopped, title: "You declined what the application asks for",
        text: "Nothing was stored. To go on after all, start again and accept. You can close this page.")

    /// Creates the page that explains an authority's refusal and how to fix it.
    fileprivate init(explaining error: PluginError) {
        let isLate = !Self.tooLate.isDisjoint(with: error.errorCodes)
        let title =
            if isLate {
                "Sign-in timed out"
            } else if !AuthoritySession.needsBrowser.isDisjoint(with: error.errorCodes) {
                "Your organisation blocked this sign-in"
            } else if error.errorCodes.contains(Self.approval) {
                "An administrator must approve this application"
            } else {
                "Sign-in failed"
            }
        let advice = Self.advice(for: error).map { " \($0.asSentence)" } ?? ""
        self.init(.stopped, title: title, text: "Nothing was stored.\(advice) You can close this page.")
    }

    /// Returns a hint for a user in the browser; a new sign-in must start where this one did.
    private static func advice(for error: PluginError) -> String? {
        guard let hint = error.hint else {
            return error.code == .interactionRequired ? "start again to sign in" : nil
        }
        let start = "sign in again"
        guard hint.utf8.starts(with: start.utf8) else { return hint }
        return "start again" + String(decoding: Array(hint.utf8.dropFirst(start.utf8.count)), as: UTF8.self)
    }

    /// The user left the sign-in page open for too long, or its code was redeemed too late.
    private static let tooLate: Set = ["AADSTS50089", "AADSTS70008"]
    private static let approval = "AADSTS90094"

    static let forgottenPassword = LoopbackPage(
        .wait, title: "Reset your password",
        text: "lanyard opens the page for it; the sign-in continues after that. You can close this page.")
    static let passwordReset = LoopbackPage(
        .done, title: "Your password is reset",
        text: "The sign-in continues on a page that lanyard opens. You can close this page.")
}

extension String {
    /// The message as a sentence, with a capital letter and a full stop.
    fileprivate var asSentence: String {
        prefix(1).uppercased() + dropFirst() + (utf8.last == UInt8(ascii: ".") ? "" : ".")
    }
}
