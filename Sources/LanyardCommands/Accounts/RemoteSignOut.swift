import Addresses
import PluginHost
import PluginWire
import Rules
import Secrets
import Terminal
import TokenAcquisition
import TokenStore

/// Ends an account's sign-in at the authority, after everything was removed from the keyring.
struct RemoteSignOut {
    let session: Session

    /// Asks the authority to revoke the removed tokens; they stay removed here even if that fails.
    func revoke(_ tokens: [RefreshTokenRecord], of known: KnownAccount) async {
        guard let ask = authority(of: known) else { return }
        for token in tokens {
            do throws(AcquisitionError) {
                try await session.acquirer.revoke(token, authority: ask.url, kind: ask.kind)
            } catch {
                guard let reason = Failure.reason(error) else { continue }
                let host = known.account.environment.displayable(limit: 255)
                session.context.console.note("\(host) did not revoke the tokens: \(reason)")
            }
        }
    }

    /// Opens the authority's sign-out page, or shows its URL if no browser can open.
    ///
    /// An authority without such a page gets a note rather than an error, because trying again wouldn't help.
    ///
    /// - Throws: `Failure` if the authority can't be asked.
    func end(_ known: KnownAccount, idTokens: [IDTokenRecord], clientID: String?) async throws(Failure) {
        let account = known.account
        guard let ask = authority(of: known) else { throw Failure(.unknownAuthority(""), sessionOf: account) }
        let token = idTokens.first { $0.clientID.clientKey == ask.clientID?.clientKey } ?? idTokens.first
        let page = SignOutPage(console: session.context.console, browser: session.browser)
        let client = token?.clientID ?? clientID ?? ask.clientID ?? known.clientIDs.first ?? ""
        do throws(AcquisitionError) {
            try await session.acquirer.endSession(
                of: account, idToken: token, clientID: client, authority: ask.url, kind: ask.kind, person: page)
        } catch {
            let failure = Failure(error, sessionOf: account)
            guard case .plugin(let reason, _) = error, reason.code == .unsupported else { throw failure }
            session.context.console.note(failure)
        }
    }

    /// An authority with its kind and client in the configuration.
    private typealias Ask = (url: String, kind: String?, clientID: String?)

    /// Returns the authority that the account last signed in to, else a configured one that has the account; nil if
    /// there is neither.
    private func authority(of known: KnownAccount) -> Ask? {
        if let url = known.profiles.lazy.compactMap(\.authority).first {
            return configured.first { $0.url == url } ?? (url, nil, nil)
        }
        return configured.first { ask in
            session.acquirer.place(of: ask.url, kind: ask.kind).map { known.profiles.contains(where: $0.owns) } ?? false
        }
    }

    private var configured: [Ask] {
        let configuration = session.configuration
        let rules = configuration.rules.map { ($0.authority, $0.kind, configuration.clientID(of: $0)) }
        let all = rules + [configuration.authority].compactMap(\.self).map { ($0, nil, configuration.clientID(at: $0)) }
        return all.map { ($0.0, $0.1, session.registry.clientID($0.2, at: $0.0, kind: $0.1)) }
    }
}

/// Shows the sign-out page, which returns nothing that lanyard could wait for.
private struct SignOutPage: PersonInterface {
    let console: Console
    /// The browser; nil if none can open here.
    let browser: Browser?

    func answer(_ event: PluginEvent) async -> PluginReply {
        guard case .openURL(let url, _) = event else { return .unsupported }
        if let browser, await browser.open(url) == nil {
            console.note("ending the browser's session: the sign-out page is open")
            return .done
        }
        console.note("to end the browser's session too, open this page in the browser:")
        console.show(url.displayable(limit: 32_768))
        return .done
    }

    func progress(_ message: String) async {}
}

extension Failure {
    /// Creates the error for a browser session that could not be ended.
    fileprivate init(_ error: AcquisitionError, sessionOf account: AccountRecord) {
        let host = account.environment.displayable(limit: 255)
        self.init(
            "the browser's session at \(host) was not ended: \(Self.reason(error) ?? "no plugin supports it")",
            hints: ["sign out on its page in the browser"])
    }

    /// Returns why a plugin didn't do it; nil if none was asked.
    fileprivate static func reason(_ error: AcquisitionError) -> String? {
        switch error {
        case .plugin(let error, _): error.message.displayable(limit: 500)
        case .unusablePlugin(let problem, let name): Failure(name, unusable: problem).message
        case .otherPlugin(let other):
            "they came from \(other.origin.map { "the \($0.displayable(limit: 64)) plugin" } ?? "a plugin that ships with lanyard")"
        default: nil
        }
    }
}
