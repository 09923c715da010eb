import Addresses
import PluginHost
import Secrets
import Terminal
import TokenAcquisition
import TokenStore

/// Asks the user at the terminal for an account.
struct AccountMenu: AccountChooser {
    let console: Console
    /// The question, fit to show.
    var title = "which account?"
    /// Whether the user may choose to sign in with another account.
    var offersAnother = true

    func choose(among accounts: [AccountRecord]) async -> AccountChoice {
        guard ControllingTerminal.isThere, !accounts.isEmpty else { return .unavailable }
        guard let choice = await ask(accounts) else { return .cancelled }
        return choice < accounts.count ? .account(accounts[choice]) : .another
    }

    func confirm(_ account: AccountRecord, at place: AuthorityPlace) async {
        let text = "using \(account.nameForPeople) for \(place.urlForPeople) from now on; to change that"
        console.note(Hint(text, run: "lanyard use"))
    }

    /// Asks until the user chooses or interrupts; returns the index of the account, or the number of accounts for
    /// another one.
    private func ask(_ accounts: [AccountRecord]) async -> Int? {
        let choices = accounts.labels + (offersAnother ? ["sign in with another account"] : [])
        let (interruptions, interrupted) = AsyncStream.makeStream(of: Void.self)
        // Watch first: once the terminal is taken, it passes signals on to the handlers that it finds.
        let watch = Interrupts.watch { interrupted.finish() }
        let choice = await withTaskGroup(of: Int?.self) { group in
            group.addTask { [console, title] in
                await Prompt(console).choice(title, among: choices) { name in
                    let named = accounts.indices.filter { accounts[$0].isNamed(name) }
                    return named.count == 1 ? named[0] : nil
                }
            }
            group.addTask {
                for await _ in interruptions {}
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        watch.cancel()
        await watch.value
        return choice
    }
}
