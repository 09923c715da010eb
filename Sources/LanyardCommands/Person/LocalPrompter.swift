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
    private func announcing(
        _ requester: Requester, _ url: String?
    ) -> @Sendable () async throws(AcquisitionError) -> Void {
        let isDone = Mutex(false)
        return { [context] () async throws(AcquisitionError) in
            let wasDone = isDone.withLock { done in
                defer { done = true }
                return done
            }
            if !wasDone { try await requester.announce(url, in: context) }
        }
    }

    /// Whether there is a terminal to ask for the keyring's password; a window asks by itself.
    var mayAskToUnlock: Bool { presence.isSomebodyThere && !presence.hasDisplay && ControllingTerminal.isThere }

    func unlockKeyring(for url: String?) async -> Bool {
        context.console.endProgress()
        guard mayAskToUnlock, await context.requester?.takeTurn(in: context) ?? true else { return false }
        if let url, await GitConfiguration(context).forbidsPrompts(for: url) { return false }
        do throws(Failure) {
            let unlocker = try KeyringUnlocker(context, group: configuration.group)
            context.console.note(
                unlocker.makesFirst
                    ? "there is no keyring yet; a password creates one, Enter creates none"
                    : "the keyring is locked; its password unlocks it, Enter leaves it locked")
            let isOpen = try await unlocker.openAtTerminal(context)
            if !isOpen { context.requester?.noteDecline(in: context) }
            return isOpen
        } catch  where KeyringUnlocker.retypable.contains(error) {
            context.console.note(error.message)
        } catch {
            // The error that led here says what is wrong with the keyring.
        }
        return false
    }
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
        case .automatic where refusesBrowser:
            broker + [.paste, .browser, .deviceCode]
        case .automatic: broker + [.deviceCode, .paste]
        }
    }
}
