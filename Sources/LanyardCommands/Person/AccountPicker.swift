import Addresses
import PluginHost
import PluginWire
import Secrets
import Terminal
import TokenAcquisition
import TokenStore

/// Asks at the terminal which account is meant.
struct AccountPicker: AccountChooser {
    let console: Console
    /// What is asked, in words fit to show.
    var title = "which account?"
    /// Whether an account that has yet to sign in is a choice.
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

    /// Asks until the person chooses or interrupts; gives the place of the account, or the one behind the last.
    private func ask(_ accounts: [AccountRecord]) async -> Int? {
        let choices = accounts.labels + (offersAnother ? ["sign in with another account"] : [])
        let (interruptions, interrupted) = AsyncStream.makeStream(of: Void.self)
        // Watched for before the terminal is taken, which passes on what it finds.
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

extension [AccountRecord] {
    /// What tells each account from the others: user name, name and kind, and the host or the tenant of those that share these.
    var labels: [String] {
        let plain = map { account in
            let name = account.name?.displayable(limit: 30) ?? ""
            return (name.isEmpty ? [] : [name]) + [account.kindForPeople]
        }
        let widest = Swift.min(map(\.nameForPeople.count).max() ?? 0, 40)
        return indices.map { index in
            let account = self[index]
            let twins = indices.filter { self[$0].username.lowercased() == account.username.lowercased() }
            var details = plain[index]
            let alike = twins.filter { self[$0].kindForPeople == account.kindForPeople }
            let isElsewhere = alike.contains { !self[$0].environment.isSame(as: account.environment) }
            if isElsewhere { details.append("at \(account.environment.displayable(limit: 60))") }
            if !isElsewhere, alike.count > 1, let home = account.tenant {
                details.append("tenant \(home.displayable(limit: 13))")
            }
            let name = account.nameForPeople
            let gap = String(repeating: " ", count: Swift.max(0, widest - name.count) + 2)
            return name + gap + details.joined(separator: ", ")
        }
    }
}

extension AccountRecord {
    /// The realm that it is at home in; nil if it has none, or its host has but one.
    var tenant: String? { homeRealm.flatMap { $0 == PluginProtocol.realmOfHost ? nil : $0 } }

    /// What kind of account it is, as its plugin says, and the policy that it belongs to.
    var kindForPeople: String {
        [(kind ?? "other").displayable(limit: 40), policy?.displayable(limit: 60)].compactMap(\.self)
            .joined(separator: " ")
    }
}
