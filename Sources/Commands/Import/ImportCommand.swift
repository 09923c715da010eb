import ArgumentParser
import CommandKit
import CredentialEngine
import JSON
import Keyring
import Model
import OtherCaches
import PluginHost
import Rules
import Terminal

struct ImportCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import tokens from a file or another program.",
        usage: """
            lanyard import [<options>] <document>
            lanyard import [<options>] --from <program>
            """,
        discussion: """
            A file is what `lanyard export` or one of MSAL's libraries wrote. From another program, only what the apps in \
            your configuration may use is imported. Stored tokens are replaced only by newer ones. The source stays as it is.
            """)

    static let examples: KeyValuePairs = [
        "Import what another machine exported": "gpg --decrypt lanyard.gpg | lanyard import -",
        "See what could be imported from the Azure CLI": "lanyard import --from azure-cli --dry-run",
    ]

    @Argument(help: "The file; - for standard input.", completion: .file())
    var document: String?

    @Option(
        name: .customLong("from"),
        help: ArgumentHelp("The program to import from.", valueName: "program"))
    var source: ImportSource?

    @Option(
        help: ArgumentHelp("With --from, the file to read instead of the program's own.", valueName: "file"),
        completion: .file())
    var file: String?

    @Option(
        help: ArgumentHelp(
            "With --from msal-extensions, the schema of the keyring's item; with azure-identity, the cache's name.",
            valueName: "name"))
    var item: String?

    @Flag(name: [.customShort("n"), .long], help: "Show what would be imported, without importing it.")
    var dryRun = false

    @Flag(help: "Print JSON.")
    var json = false

    mutating func validate() throws {
        guard (document == nil) != (source == nil) else {
            throw ValidationError("give a file, or --from and a program")
        }
        if file != nil, source == nil { throw ValidationError("--file needs --from") }
        if item != nil, source?.hasItems != true || file != nil {
            throw ValidationError("--item goes with --from msal-extensions or azure-identity, in place of --file")
        }
        if source == .msalExtensions, file == nil, item == nil {
            throw ValidationError(
                "--from msal-extensions takes --file FILE, or --item and the schema of a keyring's item")
        }
    }

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context)
        let reader = SourceReader(session: session, file: file, item: item)
        let findings = try await session.unlocking(for: nil) { () throws(CommandError) in
            guard let source else { return try reader.document(document ?? "-") }
            return try reader.findings(source)
        }
        let stored = try await session.storedRecords()
        let plan = ImportPlan(findings.cache.records, stored: stored.all, rules: rules(session))
        let passwords = try PasswordPlan(findings.passwords, besides: stored, in: session)
        if !dryRun {
            let imported = plan.imported.map { record in
                var record = record
                // Another program's tokens came from no plugin.
                record.plugin = record.plugin ?? session.registry.origin(ofHost: record.environment)
                return record
            }
            do throws(CommandError) {
                try await session.unlocking(for: nil) { () throws(CommandError) in
                    try session.keeping { () throws(KeyringError) in try session.store.save(imported) }
                    try passwords.store(in: session)
                }
            } catch {
                throw error.with("what was imported so far stays; for the rest, run the same command again")
            }
        }
        var report = ImportReport(now: session.context.now)
        report.add(plan)
        for reject in findings.cache.rejects { report.add(reject) }
        for entry in passwords.entries + findings.refused { report.add(entry) }
        for password in findings.shared { report.add(shared: password) }
        tell(report, findings, session)
    }

    /// Returns the rules for an import: from another program only what the configured clients may use, from the user's
    /// own document everything.
    private func rules(_ session: Session) -> ImportRules {
        let registry = session.registry
        let hosts = Set(session.configuration.configuredHosts)
        return ImportRules(
            clientIDs: source == nil ? nil : session.configuration.clientIDs(in: registry),
            environment: { host in
                registry.environment(ofHost: host, isConfigured: hosts.contains(host.lowercased()))
            }, now: session.context.now)
    }

    private func tell(_ report: ImportReport, _ findings: ImportFindings, _ session: Session) {
        let console = session.context.console
        if json {
            console.print(json: report.json)
        } else {
            for line in report.lines(columns: Console.columns) { console.print(line) }
        }
        console.note(Hint(summary(report)))
        for note in findings.notes { console.note(Hint(note)) }
        if source != nil, !report.reasons.isDisjoint(with: [.otherClient, .otherFamily]) {
            console.hint(
                Hint("a token works only for the app it was issued to; with yours, sign in", run: "lanyard login"))
        }
        if report.reasons.contains(.unknownHost) {
            console.hint(
                "name the host in known-authorities of \(session.context.short(session.context.userFile)), if it is yours"
            )
        }
    }

    private func summary(_ report: ImportReport) -> Message {
        guard !report.isEmpty else { return "nothing was found" }
        let imported = report.importedCount == 0 ? "nothing" : String(report.importedCount)
        return dryRun
            ? "would import \(imported), skip \(report.skippedCount)"
            : "imported \(imported), skipped \(report.skippedCount)"
    }
}

/// The programs whose sign-ins can be imported.
enum ImportSource: String, ExpressibleByArgument, CaseIterable {
    /// The Azure CLI since 2.30: MSAL's cache in a file, or in the keyring if it is configured to encrypt it.
    case azureCLI = "azure-cli"
    /// The Azure CLI before 2.30, and other programs with ADAL for Python.
    case adal
    /// Git Credential Manager: its passwords, and the cache that it shares with Microsoft's developer tools.
    case gcm
    /// git-credential-libsecret.
    case gitLibsecret = "git-libsecret"
    /// A program with MSAL's extensions; its cache may be anywhere.
    case msalExtensions = "msal-extensions"
    /// The Azure SDKs, if they are configured to persist their tokens.
    case azureIdentity = "azure-identity"
    /// The Azure Developer CLI.
    case azd
    /// The GitHub CLI.
    case gh
    /// The GitLab CLI.
    case glab

    /// Whether it has named caches in the keyring.
    var hasItems: Bool { self == .msalExtensions || self == .azureIdentity }

    /// Whether its file contains hosts' settings with tokens that git sends as passwords.
    var isOfHosts: Bool { self == .gh || self == .glab }

    /// The name for messages.
    var name: String {
        switch self {
        case .azureCLI: "the Azure CLI"
        case .adal: "ADAL"
        case .gcm: "Git Credential Manager"
        case .gitLibsecret: "git-credential-libsecret"
        case .msalExtensions: "MSAL's extensions"
        case .azureIdentity: "azure-identity"
        case .azd: "the Azure Developer CLI"
        case .gh: "gh"
        case .glab: "glab"
        }
    }
}

/// The contents of a source.
struct ImportFindings {
    /// Tokens and accounts.
    var cache = OtherCache()
    /// git's passwords that lanyard doesn't find in their present place.
    var passwords: [OtherPassword] = []
    /// git's passwords that lanyard can't use.
    var refused: [PasswordPlan.Entry] = []
    /// git's passwords that lanyard finds in their present place.
    var shared: [OtherPassword] = []
    /// The notes about the source for the user.
    var notes: [Message] = []

    /// Adds the tokens and accounts of another cache of the same source, and the notes about it.
    mutating func add(_ more: ImportFindings) {
        cache.records += more.cache.records
        cache.rejects += more.cache.rejects
        notes += more.notes
    }
}
