import Claims
import OAuth
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
        var page = endedByPerson(told, refusal) ?? failure(told, refusal)
        page.facts = request.facts(account: request.signIn.loginHint, authority: authority.url)
        return page
    }

    /// Returns the page for a sign-in that the user declined; nil if the authority refused.
    ///
    /// Which of B2C's errors mean that is decided by B2C's plugin, through the error code.
    private func endedByPerson(_ told: PluginError, _ refusal: EntraRefusal?) -> LoopbackPage? {
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
}

extension String {
    /// The message as a sentence, with a capital letter and a full stop.
    fileprivate var asSentence: String {
        prefix(1).uppercased() + dropFirst() + (utf8.last == UInt8(ascii: ".") ? "" : ".")
    }
}
