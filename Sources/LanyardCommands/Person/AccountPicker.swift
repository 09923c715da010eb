import Addresses
import PluginHost
import Secrets
import Terminal
import TokenAcquisition
import TokenStore

/// Asks at the terminal which account is meant: numbered lines and a question, which any terminal and reader can show.
struct AccountPicker: AccountChooser {
    let console: Console
    /// What is asked, in words fit to show.
    var title = "which account?"
    /// Whether an account that has yet to sign in is a choice.
    var offersAnother = true

    /// How often a wrong answer is met with the question again.
    private static let patience = 5
    private static let widest = 79

    func choose(among accounts: [AccountRecord]) async -> AccountChoice {
        guard ControllingTerminal.isThere, !accounts.isEmpty else { return .unavailable }
        let count = accounts.count + (offersAnother ? 1 : 0)
        var question = lines(accounts).joined(separator: "\n") + "\nlanyard: number [1]: "
        for _ in 0..<Self.patience {
            guard let line = await ask(question) else { return .cancelled }
            let answer = String(line.trimmed())
            if let number = answer.isEmpty ? 1 : Int(answer), (1...count).contains(number) {
                return number > accounts.count ? .another : .account(accounts[number - 1])
            }
            let named = accounts.filter { $0.isNamed(line) }
            if named.count == 1 { return .account(named[0]) }
            question = "lanyard: type a number from 1 to \(count), or Ctrl-C to cancel: "
        }
        return .cancelled
    }

    func confirm(_ account: AccountRecord, at place: AuthorityPlace) async {
        let text = "using \(account.nameForPeople) for \(place.urlForPeople) from now on; to change that"
        console.note(Hint(text, run: "lanyard use"))
    }

    /// The question's lines: each account by user name, name and kind, told apart by the tenant if that is needed.
    private func lines(_ accounts: [AccountRecord]) -> [String] {
        var choices = accounts.labels
        if offersAnother { choices.append("sign in with another account") }
        let digits = String(choices.count).count
        let numbered = choices.enumerated().map { index, choice in
            let number = String(index + 1)
            let line = "  \(String(repeating: " ", count: digits - number.count))\(number)) \(choice)"
            return line.displayable(limit: Self.widest - 1)
        }
        return ["lanyard: \(title)"] + numbered
    }

    /// Asks one question; nil if the input ends or the person interrupts.
    private func ask(_ question: String) async -> String? {
        let (interruptions, interrupted) = AsyncStream.makeStream(of: Void.self)
        // Watched for before the terminal is taken, which passes on what it finds.
        let watch = Interrupts.watch { interrupted.finish() }
        let line = await withTaskGroup(of: String?.self) { group in
            group.addTask { [console] in
                guard let terminal = ControllingTerminal(console) else { return nil }
                return await terminal.ask(question, echo: true)
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
        return line
    }
}

extension [AccountRecord] {
    /// What tells each account from the others: user name, name and kind, and the tenant of those that share these.
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
            if twins.count(where: { self[$0].kindForPeople == account.kindForPeople }) > 1, let home = account.homeRealm
            {
                details.append("tenant \(home.displayable(limit: 13))")
            }
            let name = account.nameForPeople
            let gap = String(repeating: " ", count: Swift.max(0, widest - name.count) + 2)
            return name + gap + details.joined(separator: ", ")
        }
    }
}

extension AccountRecord {
    /// What kind of account it is, as its plugin says, and the policy that it belongs to.
    var kindForPeople: String {
        [(kind ?? "other").displayable(limit: 40), policy?.displayable(limit: 60)].compactMap(\.self)
            .joined(separator: " ")
    }
}
