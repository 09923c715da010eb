import Addresses
import PluginWire
import Secrets
import TokenAcquisition
import TokenStore

extension AccountRecord {
    /// The user name, or else the identifier, fit to show.
    var nameForPeople: String { (username.isEmpty ? homeAccountID : username).displayable(limit: 200) }

    /// The home tenant; nil if there is none, or if the host has only one realm.
    var tenant: String? { homeRealm.flatMap { $0 == PluginProtocol.realmOfHost ? nil : $0.percentDecoded ?? $0 } }

    /// The kind of account according to its plugin, and the policy that it belongs to.
    var kindForPeople: String {
        [(kind ?? "other").displayable(limit: 40), policy?.displayable(limit: 60)].compactMap(\.self)
            .joined(separator: " ")
    }
}

extension [AccountRecord] {
    /// The accounts' names; accounts with the same name are told apart by host, or by kind and identifier.
    var namesApart: [String] {
        zip(self, namesToType).map { account, name in
            let shown = account.nameForPeople
            let isIdentifier = name != shown && name == account.homeAccountID.displayable(limit: 200)
            return isIdentifier ? "\(shown) (\(account.kindForPeople), \(name))" : name
        }
    }

    /// The name of each account that no other has, fit to show.
    var namesToType: [String] { map { distinctName(of: $0).displayable(limit: 200) } }

    /// Returns a name that only this account has: its user name, with the host if others have the same name, or else
    /// its identifier.
    func distinctName(of account: AccountRecord) -> String {
        guard let nameWithHost = account.nameWithHost else { return account.homeAccountID }
        let namesakes = filter { $0.username.lowercased() == account.username.lowercased() }
        guard namesakes.count > 1 else { return account.username }
        let here = namesakes.count { $0.environment.lowercased() == account.environment.lowercased() }
        return here == 1 ? nameWithHost : account.homeAccountID
    }

    /// A distinct label for each account: user name, name and kind, and if these are the same, also the host or tenant.
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
