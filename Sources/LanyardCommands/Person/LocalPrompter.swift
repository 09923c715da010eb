import CredentialEngine
import PluginWire
import Rules
import Secrets
import Synchronization
import Terminal
import TokenAcquisition

/// Finds the user at the terminal or in front of the screen.
struct LocalPrompter: UserPrompter {
    let context: CommandContext
    let configuration: Configuration
    let presence: Presence
    let browser: Browser?

    func mayAsk(for url: String?) -> Bool { presence.isSomebodyThere }

    func person(for url: String?) async -> TokenAcquirer.Person? {
        guard mayAsk(for: url) else { return nil }
        if let url, await GitConfiguration(context).forbidsPrompts(for: url) { return nil }
        let interface = PersonAtTerminal(
            context: context, presence: presence, browser: browser, patience: configuration.timeout)
        let title = url.map { "which account for \($0.displayable(limit: 300))?" } ?? "which account?"
        let chooser = presence.hasTerminal ? AccountMenu(console: context.console, title: title) : nil
        return TokenAcquirer.Person(
            interface: interface, flows: presence.flows(configuration), chooser: chooser,
            purpose: url?.displayable(limit: 300), announce: context.requester.map { announcing($0, url) })
    }

    /// Says who asks for a sign-in, the first time that it is called.
    private func announcing(_ requester: Requester, _ url: String?) -> @Sendable () async -> Void {
        let isDone = Mutex(false)
        return { [context] in
            let wasDone = isDone.withLock { done in
                defer { done = true }
                return done
            }
            if !wasDone { await requester.announce(url, in: context) }
        }
    }

    var mayAskToUnlock: Bool { offer != nil }

    func unlockKeyring(for url: String?) async -> Bool {
        context.console.endProgress()
        return await offer?.accept(for: url) ?? false
    }

    private var offer: UnlockOffer? { UnlockOffer(context, presence, group: configuration.group) }
}

extension Presence {
    /// Returns the ways to sign in, best first; if the page is opened elsewhere, pasting comes first, because the
    /// answer is in the URL then.
    func flows(_ configuration: Configuration) -> [PluginRequest.Flow] {
        // The broker's window needs a screen.
        let broker: [PluginRequest.Flow] = configuration.mayUseBroker && hasDisplay ? [.broker] : []
        return switch configuration.flow {
        case .broker: [.broker]
        case .browser: hasBrowser ? [.browser, .paste] : [.paste, .browser]
        case .deviceCode: [.deviceCode]
        case .automatic where hasBrowser: broker + [.browser, .deviceCode, .paste]
        case .automatic where configuration.browser == Configuration.noBrowser:
            broker + [.paste, .browser, .deviceCode]
        case .automatic: broker + [.deviceCode, .paste]
        }
    }
}
