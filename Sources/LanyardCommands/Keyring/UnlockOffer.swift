import Secrets
import Terminal

/// An offer at the terminal to unlock the keyring, made once by a command that can't continue without it.
struct UnlockOffer: Sendable {
    private let context: CommandContext
    /// The group of the keyring's items.
    private let group: String

    /// Returns nil if the user can't be asked, or if a window can ask.
    init?(_ context: CommandContext, _ presence: Presence, group: String) {
        guard presence.isSomebodyThere, !presence.hasDisplay, ControllingTerminal.isThere else { return nil }
        self.context = context
        self.group = group
    }

    /// Asks for the password; false if the user presses Enter, the password is wrong, or the keyring can't be unlocked
    /// from here.
    func accept(for url: String?) async -> Bool {
        if let url, await GitConfiguration(context).forbidsPrompts(for: url) { return false }
        do throws(Failure) {
            let unlocker = try KeyringUnlocker(context, group: group)
            context.console.note("the keyring is locked; its password unlocks it, Enter leaves it locked")
            let answer = await Prompt(context.console).line("password of the keyring", echo: false)
            guard let answer, !answer.isEmpty else { return false }
            try unlocker.unlock(with: Secret(answer))
            return true
        } catch  where error == KeyringUnlocker.wrongPassword {
            context.console.note(error.message)
        } catch {
            // The error that led to this offer reports what is wrong with the keyring.
        }
        return false
    }
}
