import ArgumentParser
import CredentialProtocol
import JSON
import TokenAcquisition
import TokenStore

/// `lanyard accounts`.
struct Accounts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List who has signed in.")

    @Flag(help: "Print JSON.")
    var json = false

    mutating func run() async throws {
        let session = try Session()
        let accounts = try session.accounts()
        let console = session.context.console
        if json {
            console.print(JSONValue.array(accounts.map(\.json)).encoded(pretty: true))
            return
        }
        guard !accounts.isEmpty else {
            console.note("nobody is signed in")
            return
        }
        for line in Self.table(accounts) { console.print(line) }
    }

    /// Columns as wide as their longest cell.
    private static func table(_ accounts: [KnownAccount]) -> [String] {
        let rows =
            [["USERNAME", "NAME", "TENANT", "AUTHORITY"]]
            + accounts.map { known in
                [
                    known.account.nameForPeople, (known.account.name ?? "").displayable(limit: 60),
                    known.account.homeTenant.displayable(limit: 60),
                    known.account.environment.displayable(limit: 60),
                ]
            }
        let widths = (0..<4).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            return cells.joined(separator: "  ").trimmedAtEnd
        }
    }
}

/// An account and the clients that have tokens of it.
struct KnownAccount: Sendable {
    let account: AccountRecord
    let clientIDs: [String]

    fileprivate var json: JSONValue {
        .object([
            "username": .string(account.username), "name": .string(account.name ?? ""),
            "homeAccountId": .string(account.homeAccountID), "environment": .string(account.environment),
            "tenant": .string(account.homeTenant), "clientIds": .array(clientIDs.map(JSONValue.string)),
        ])
    }
}

extension AccountRecord {
    /// The user name, or the identifier where there is none, fit to show.
    var nameForPeople: String { (username.isEmpty ? homeAccountID : username).displayable(limit: 200) }
}

extension Session {
    /// Every account, once each, by user name; of its tenant profiles the home one stands for it.
    func accounts() throws(Failure) -> [KnownAccount] {
        let found = try acquiring { () throws(AcquisitionError) in try acquirer.allAccounts() }
        var chosen: [String: KnownAccount] = [:]
        for (account, clients) in found {
            let id = account.homeAccountID.lowercased()
            let isHome = account.realm.lowercased() == account.homeTenant
            if chosen[id] == nil || isHome { chosen[id] = KnownAccount(account: account, clientIDs: clients) }
        }
        return chosen.values.sorted {
            ($0.account.username, $0.account.homeAccountID) < ($1.account.username, $1.account.homeAccountID)
        }
    }

    /// Runs what has no request to name in its error.
    func acquiring<Result>(_ body: () throws(AcquisitionError) -> Result) throws(Failure) -> Result {
        do {
            return try body()
        } catch .store(let error) {
            throw Failure(error)
        } catch {
            throw Failure("the store could not be read")
        }
    }
}

extension String {
    fileprivate var trimmedAtEnd: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
