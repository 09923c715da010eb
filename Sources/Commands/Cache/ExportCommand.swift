import Addresses
import ArgumentParser
import CommandKit
import Files
import Glibc
import Keyring
import Secrets
import SystemPackage
import Terminal
import TokenAcquisition

struct ExportCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Export tokens and accounts in MSAL's JSON format.",
        discussion: """
            The document holds refresh tokens: anyone who has it can act as you until they expire. Passwords that git \
            stored are not in it.
            """)

    static let examples: KeyValuePairs = [
        "Encrypt an export for another machine": "lanyard export | gpg --symmetric --output lanyard.gpg"
    ]

    @Option(help: ArgumentHelp("Only this account's: a user name or an identifier.", valueName: "account"))
    var account: String?

    @Option(
        help: ArgumentHelp("The file to write, readable only by you; standard output if left out.", valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(help: "Print the document even on a terminal.")
    var force = false

    mutating func validate() throws {
        if account?.isEmpty == true { throw ValidationError("--account is empty; leave it out to export everything") }
    }

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context)
        let console = session.context.console
        if output == nil, !force, isatty(console.output.rawValue) == 1 {
            throw CommandError(
                "the document holds refresh tokens, which a terminal would show and keep",
                hints: [Hint("write it to a file", run: "lanyard export --output FILE")], status: .usage)
        }
        let stored = try await session.storedRecords()
        let chosen = try records(among: stored.all)
        for reason in stored.unreadable { console.note("not exported: \(reason)") }
        let document = UnifiedCache(chosen).json(pretty: true) + [0x0A]
        if let output {
            try write(document, to: output)
        } else {
            console.write(document)
        }
        let tokens = chosen.count { if case .refreshToken = $0 { true } else { false } }
        guard tokens > 0 else { return }
        console.note("this holds \(tokens) refresh \(tokens == 1 ? "token" : "tokens"): keep it to yourself")
        let issuers = session.issuersOfRefreshTokens(among: chosen, stored)
        if !issuers.isEmpty {
            console.note(
                """
                many authorities end a sign-in if two machines use one refresh token: use those of \
                \(issuers.joined(separator: ", ")) on one machine only
                """)
        }
        if output == nil, console.output.isFileOpenToOthers {
            let file = FileStatus.linkTarget(of: "/proc/self/fd/\(console.output.rawValue)")
            console.note(Hint("others can read the output file; make it private", run: "chmod 600\(last: file)"))
        }
    }

    /// Writes a file that only its owner can read, completely or not at all.
    ///
    /// Replaces the user's own file of that name; never follows a link or replaces another user's file.
    private func write(_ contents: [UInt8], to path: String) throws(CommandError) {
        let name = path.cut(atLast: "/").map { String($0.1) } ?? path
        do throws(FileError) {
            let folder = try Folder(FileTrust.parent(of: path))
            if let status = folder.status(of: name), !status.isRegular || !status.isOwn { throw .irregular }
            // The draft of an export that was killed contains refresh tokens, too.
            Draft.removeStale(in: folder)
            try folder.write(contents, to: name, isDurable: true)
        } catch .irregular {
            throw CommandError(
                "\(path) is not a regular file that you own",
                hints: [Hint("name another", write: "--output FILE")])
        } catch {
            throw CommandError("\(path) can't be written: \(error.reason)")
        }
    }

    /// Returns the account's records, and the metadata of the clients that have them.
    private func records(among all: [CredentialRecord]) throws(CommandError) -> [CredentialRecord] {
        guard let account else { return all }
        let homes = ClearFilter(account: account).homes(in: all) ?? []
        guard !homes.isEmpty else {
            throw CommandError(nothingStoredOf: account)
        }
        let facts = RecordFacts.all(all)
        let owned = facts.filter { homes.contains($0.home) }
        let clients = Set(owned.map { $0.clientID.clientKey })
        return zip(all, facts).filter { _, facts in
            facts.kind == .appMetadata
                ? clients.contains(facts.clientID.clientKey) : homes.contains(facts.home)
        }.map(\.0)
    }
}

extension FileDescriptor {
    /// Whether it is an ordinary file that others may read or write.
    var isFileOpenToOthers: Bool {
        guard let status = FileStatus(of: rawValue) else { return false }
        return status.isRegular && status.grants(0o077)
    }
}

extension Session {
    /// Returns the hosts of those refresh tokens that may be single-use, which Entra's are not.
    fileprivate func issuersOfRefreshTokens(among chosen: [CredentialRecord], _ stored: StoredRecords) -> [String] {
        let overview = acquirer.accounts(among: stored)
        let homes = Set(
            chosen.compactMap {
                if case .refreshToken(let token) = $0 { token.homeAccountID.lowercased() } else { nil }
            })
        let accounts = stored.accounts.filter { homes.contains($0.homeAccountID.lowercased()) }
        return Set(accounts.compactMap { overview.issuer(of: $0)?.environment }).sorted()
    }
}
