import Addresses
import AnswerCache
import ArgumentParser
import CommandKit
import Files
import Glibc
import JSON
import Keyring
import Model
import OtherCaches
import Rules
import Secrets
import Terminal
import TokenAcquisition

/// The programs with which a sign-in can be shared.
enum SharingProgram: String, CaseIterable, ExpressibleByArgument {
    case azureIdentity = "azure-identity"
}

struct ShareCommand: TokenNamingCommand {
    static let configuration = CommandConfiguration(
        commandName: "share", abstract: "Let programs of another library use a sign-in.",
        usage: "lanyard share --with azure-identity <cache> [<url>] [<options>]",
        discussion: """
            Writes the account and its access tokens into Azure Identity for Python's cache of that name, and prints the \
            authentication record that programs with the same client ID need to find it. Refresh tokens are never shared, so the \
            programs can use the tokens until they expire.
            """, shouldDisplay: false)

    static let examples: KeyValuePairs = [
        "Let a Python program use the token for a URL": """
        lanyard share --with azure-identity my-app \\
          \(Example.url) >record.json
        """
    ]

    @Option(help: ArgumentHelp("The library.", valueName: "library"))
    var with: SharingProgram

    @Argument(help: "The cache's name, as in TokenCachePersistenceOptions(name=…).")
    var cache: String

    @Argument(help: .tokenURL) var url: String?

    @OptionGroup(title: "Token") var named: NamedTokenOptions
    @OptionGroup(title: "Sign-in") var interaction: InteractionOptions
    @OptionGroup(title: "Sign-in page") var signIn: SignInOptions
    @OptionGroup(title: "Sign-in page") var page: SignInPageOptions

    mutating func validate() throws {
        guard AzureIdentityCache(named: cache) != nil else {
            throw ValidationError("a cache's name has letters, digits, '-', '_' and '.', and doesn't begin with '.'")
        }
    }

    mutating func run(in context: CommandContext) async throws {
        guard let place = AzureIdentityCache(named: cache) else { throw ExitCode(ExitStatus.usage.rawValue) }
        let session = try Session(context, options: interaction.values)
        // Ask the authority first, so that nobody waits for it or for the user while the cache is locked.
        let (request, url) = try await request(in: session)
        let token = try await session.token(for: request, url: url)
        let account = try Self.account(of: token)
        let records = try await Self.records(of: account, request.clientID, in: session)
        try place.add(records, in: session)
        let record = SharedCache.authenticationRecord(
            of: account, clientID: request.clientID, tenant: token.realm)
        context.console.print(json: record)
        let count = records.count { $0.kind == .accessToken }
        context.console.note(
            """
            \(cache) has \(count) access \(count == 1 ? "token" : "tokens") of \(account.displayName); run this again when \
            they have expired
            """)
    }

    /// Returns the token's account if Azure Identity supports such accounts.
    private static func account(of token: AcquiredToken) throws(CommandError) -> AccountRecord {
        guard let account = token.account else {
            throw CommandError(
                "an identity has no account to share", hints: ["let the program itself sign in as the identity"])
        }
        guard SharedCache.accepts(account), !token.isExchanged else {
            throw CommandError("Azure Identity accepts only accounts of Microsoft Entra ID, and their tokens")
        }
        return account
    }

    /// Returns the account and its usable access tokens for a client.
    private static func records(
        of account: AccountRecord, _ clientID: String, in session: Session
    ) async throws(CommandError) -> [CredentialRecord] {
        let now = session.context.now
        let own = try await session.storedRecords().all.filter { record in
            record.homeAccountID?.lowercased() == account.homeAccountID.lowercased()
                && record.environment.lowercased() == account.environment.lowercased()
        }
        return own.filter { record in
            switch record {
            case .account: true
            case .accessToken(let token):
                token.clientID.clientKey == clientID.clientKey && token.isBearer
                    && token.resourceIndicators == nil && token.expiresOn.map { $0 > now } ?? false
            default: false
            }
        }
    }
}

extension AzureIdentityCache {
    /// Adds to the cache, which other programs share: under their lock, and changing nothing else.
    fileprivate func add(_ records: [CredentialRecord], in session: Session) throws(CommandError) {
        let service = session.serviceConfiguration
        if session.context.sealedKeyring != nil, RecordStore(configuration: service).problem()?.isAbsent == true {
            throw CommandError("Azure Identity keeps its cache in a keyring service, and there is none here")
        }
        guard let home = session.context.environment.absolutePath("HOME") else {
            throw CommandError("HOME names no folder, and the cache's lock is there")
        }
        let item = SharedCacheItem(
            service, schema: schema, attributes: attributes, label: label)
        Folder.make(String("\(home)/\(signal)".cut(atLast: "/")?.0 ?? ""))
        try write(records, to: item, home, in: session)
        let written = try session.keeping { () throws(KeyringError) in try item.contents() }
        guard let written, SharedCache(written)?.has(records) == true else {
            throw CommandError(
                "another program has replaced the cache meanwhile", hints: ["run the same command again"])
        }
    }

    private func write(_ records: [CredentialRecord], to item: SharedCacheItem, _ home: String, in session: Session)
        throws(CommandError)
    {
        let lock = try acquireLock("\(home)/\(self.lock)")
        defer { withExtendedLifetime(lock) {} }
        let found = try session.keeping { () throws(KeyringError) in try item.contents() }
        guard var cache = SharedCache(found ?? []), cache.add(records) else {
            throw CommandError("the cache was not written by MSAL, and stays as it is")
        }
        let bytes = cache.bytes
        try session.keeping { () throws(KeyringError) in try item.replace(bytes) }
        touch("\(home)/\(signal)")
    }

    private func acquireLock(_ path: String) throws(CommandError) -> SharedCacheLock {
        do throws(FileError) {
            if let lock = try SharedCacheLock.acquire(at: path) { return lock }
        } catch {
            throw CommandError("\(path) can't be made: \(error.reason)")
        }
        throw CommandError(
            "another program is writing to the cache", hints: [Hint("if none is, remove its lock", run: "rm \(path)")])
    }

    /// Makes other programs notice that the cache has changed.
    private func touch(_ path: String) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        futimens(descriptor, nil)
        close(descriptor)
    }
}
