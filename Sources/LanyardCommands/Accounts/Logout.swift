import ArgumentParser
import CredentialProtocol
import Rules
import TokenAcquisition
import TokenStore

/// `lanyard logout`.
struct Logout: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sign an account out.",
        discussion: "Removes the account's tokens of the clients in your configuration, and no other client's.")

    @Argument(help: "The account, by user name or identifier; may be left out where there is only one.")
    var account: String?

    @Flag(help: "Sign every account out.")
    var all = false

    @Option(help: ArgumentHelp("Only this client's tokens.", valueName: "id"))
    var clientId: String?

    mutating func validate() throws {
        if all, account != nil { throw ValidationError("name an account or give --all, not both") }
    }

    mutating func run() async throws {
        let session = try Session()
        // Even where the keyring turns out not to answer, lanyard doesn't either.
        session.context.answers.forget()
        let known = try session.accounts()
        let clients = clientId.map { [$0] }
        for entry in try chosen(among: known) {
            for client in clients ?? entry.clientIDs.filter(session.configuration.clientIDs.contains) {
                _ = try session.acquiring { () throws(AcquisitionError) in
                    try session.acquirer.signOut(entry.account, clientID: client)
                }
            }
            session.context.console.note("signed out \(entry.account.nameForPeople)")
        }
    }

    private func chosen(among known: [KnownAccount]) throws(Failure) -> [KnownAccount] {
        if all { return known }
        guard let account else {
            guard known.count == 1 else {
                guard !known.isEmpty else { throw Failure("nobody is signed in") }
                let names = known.map(\.account.nameForPeople).joined(separator: ", ")
                throw Failure("which of them: \(names)?", hints: ["name the account, or give --all"], status: .usage)
            }
            return known
        }
        let wanted = account.lowercased()
        let found = known.filter {
            $0.account.username.lowercased() == wanted || $0.account.homeAccountID.lowercased() == wanted
        }
        guard !found.isEmpty else {
            throw Failure(
                "the account \(account.displayable(limit: 200)) has not signed in", hints: ["see: lanyard accounts"])
        }
        return found
    }
}
