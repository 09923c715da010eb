import Addresses
import CommandKit
import Files
import Glibc
import Keyring
import Model
import OtherCaches
import Rules
import Secrets
import SystemPackage
import Terminal
import Tools

/// Reads the contents of a source.
struct SourceReader {
    let session: Session
    /// The file to read instead of the program's usual one.
    let file: String?
    /// The item in the keyring to read, if the program may have several.
    var item: String?

    /// Where programs keep their sign-ins; below `~` if HOME isn't set, so that a message can name the place.
    var places: OtherLocations {
        let context = session.context
        return OtherLocations(
            home: context.variable("HOME") ?? "~", configHome: context.environment.configHome ?? "~/.config",
            variable: { context.variable($0) })
    }

    /// Reads an exported document, or any MSAL cache.
    func document(_ path: String) throws(CommandError) -> ImportFindings {
        try unified(path, remedy: "remove it once it is imported")
    }

    func findings(_ source: ImportSource) throws(CommandError) -> ImportFindings {
        switch source {
        case .azureCLI: try azureCLI()
        case .adal: try adal()
        case .gcm: try gitCredentialManager()
        case .gitLibsecret: try gitLibsecret()
        case .msalExtensions: try msalExtensions()
        case .azureIdentity: try azureIdentity()
        case .azd: try azureDeveloperCLI()
        case .gh:
            try tokens(
                .gh, at: places.ghHosts, anybody: "x-access-token", logout: "gh auth logout", HostTokens.init(gh:))
        case .glab:
            try tokens(
                .glab, at: places.glabSettings, anybody: "oauth2", logout: "glab auth logout", HostTokens.init(glab:))
        }
    }

    // MARK: - The Azure CLI

    private func azureCLI() throws(CommandError) -> ImportFindings {
        let path = file ?? places.azureCLICache
        if file != nil || session.context.isFile(path) { return try unified(path, remedy: Self.azureRemedy) }
        guard session.context.isFile(places.azureCLISignal) else { throw Self.nothing(.azureCLI, at: path) }
        guard let findings = try keyringCache(OtherLocations.azureCLIItem) else {
            throw Self.nothing(.azureCLI, at: "the keyring")
        }
        return findings
    }

    private func adal() throws(CommandError) -> ImportFindings {
        let path = file ?? places.adalCache
        guard file != nil || session.context.isFile(path) else { throw Self.nothing(.adal, at: path) }
        let source = try SourceFile(path, input: session.context.input)
        guard let cache = OtherCache(adal: source.contents) else {
            throw CommandError("\(Self.name(path)) is not a cache of ADAL for Python")
        }
        return ImportFindings(cache: cache, notes: Self.warning(source, path, remedy: Self.azureRemedy))
    }

    private static let azureRemedy: Message = "once it is imported: az logout, then rm that file"

    // MARK: - Files

    static func name(_ path: String) -> String {
        path == "-" ? "the file on stdin" : path.displayable(limit: 500)
    }

    func unified(_ path: String, remedy: Message) throws(CommandError) -> ImportFindings {
        let source = try SourceFile(path, input: session.context.input)
        guard let cache = OtherCache(unified: source.contents) else {
            throw CommandError(
                "\(Self.name(path)) is not an MSAL cache: neither JSON nor base64 of it",
                hints: [Hint("lanyard export writes one; for another program's", run: "lanyard import --from PROGRAM")])
        }
        return ImportFindings(cache: cache, notes: Self.warning(source, path, remedy: remedy))
    }

    /// Returns a warning if other users can read unencrypted tokens.
    static func warning(_ source: SourceFile, _ path: String, remedy: Message) -> [Message] {
        guard source.isOpenToOthers else { return [] }
        return ["others can read \(name(path)), which holds tokens in plain text; \(remedy)"]
    }

    // MARK: - Keyrings

    private func gitCredentialManager() throws(CommandError) -> ImportFindings {
        if let file { return try document(file) }
        var findings = try keyringCache(OtherLocations.gcmCache) ?? ImportFindings()
        for item in try items(OtherLocations.gcmPasswords) {
            let password = OtherPassword(
                gcmItem: item.attributes, secret: item.secret, rejects: &findings.cache.rejects)
            if let password { findings.passwords.append(password) }
        }
        return findings
    }

    private func gitLibsecret() throws(CommandError) -> ImportFindings {
        guard file == nil else {
            throw CommandError("git-credential-libsecret has no file", hints: ["leave --file out"], status: .usage)
        }
        let listed = try service { configuration throws(KeyringError) in
            try PasswordStore(configuration: configuration).listed()
        }
        let passwords = listed.compactMap { OtherPassword($0) }
        var findings = ImportFindings()
        // A shared device uses the session's collection and doesn't see the user's own, nor does the sealed keyring.
        if session.configuration.deviceMode == .shared || session.context.sealedKeyring != nil {
            findings.passwords = passwords
        } else {
            findings.shared = passwords
        }
        return findings
    }

    func keyringCache(_ place: ItemQuery) throws(CommandError) -> ImportFindings? {
        let items = try items(place)
        guard !items.isEmpty else { return nil }
        var findings = ImportFindings()
        for item in items {
            if let cache = item.secret.flatMap({ OtherCache(unified: Array($0.reveal().utf8)) }) {
                findings.add(ImportFindings(cache: cache))
            } else {
                findings.cache.rejects.append(.init(what: "cache", whose: "", reason: .malformed))
            }
        }
        return findings
    }

    func items(_ place: ItemQuery) throws(CommandError) -> [OtherItems.Item] {
        try service { configuration throws(KeyringError) in
            try OtherItems(configuration: configuration).items(schema: place.schema, attributes: place.attributes)
        }
    }

    /// Reads what other programs have in the keyring service.
    private func service<Item>(
        _ read: (KeyringConfiguration) throws(KeyringError) -> [Item]
    ) throws(CommandError) -> [Item] {
        try session.keeping { () throws(KeyringError) in
            do throws(KeyringError) { return try read(session.serviceConfiguration) } catch {
                // Where the sealed keyring is used, most likely there is no other.
                guard error.isAbsent, session.context.sealedKeyring != nil else { throw error }
                return []
            }
        }
    }

    static func nothing(_ source: ImportSource, at place: String) -> CommandError {
        CommandError(
            "\(source.name) has no \(source.isOfHosts ? "settings" : "cache") at \(place)",
            hints: [Hint("name the file", run: "lanyard import --from \(source.rawValue) --file FILE")])
    }

    /// Reads the tokens of a program, which signs out by a command and gets a user name for tokens of `anybody`.
    func tokens(
        _ source: ImportSource, at place: String, anybody: String, logout: String, _ read: ([UInt8]) -> HostTokens?
    ) throws(CommandError) -> ImportFindings {
        let path = file ?? place
        guard file != nil || session.context.isFile(path) else { throw Self.nothing(source, at: path) }
        let settings = try SourceFile(path, input: session.context.input)
        guard HostTokens.isSupported else { throw .withoutYAML(Self.name(path)) }
        guard let hosts = read(settings.contents) else {
            throw CommandError("\(Self.name(path)) is not what \(source.name) writes")
        }
        var findings = ImportFindings()
        // Signing out of the program would end a sign-in that stays its own.
        if hosts.entries.contains(where: { $0.token != nil && !$0.isProgramsOwn }) {
            findings.notes = Self.warning(settings, path, remedy: "once they are imported: \(logout)")
        }
        for entry in hosts.entries { try add(entry, of: source, anybody, to: &findings) }
        for lost in findings.refused.map(\.password) {
            guard let host = lost.request.host, let user = lost.request.username,
                hosts.entries.contains(where: { $0.isActive && $0.username == user && RequestHost($0.host) == host }),
                let other = findings.passwords.last(where: { $0.request.host == host })?.request.username
            else { continue }
            findings.notes.append(
                "at \(host.text, limit: 255), \(source.name) uses \(user, limit: 100); without a user name in its URL, git "
                    + "now signs in as \(other, limit: 100)")
        }
        return findings
    }

    /// Adds a host's token, unless it can't be found.
    private func add(
        _ entry: HostTokens.Entry, of source: ImportSource, _ anybody: String, to findings: inout ImportFindings
    ) throws(CommandError) {
        var entry = entry
        if entry.token == nil { entry.token = try keyringToken(of: source, entry) }
        if entry.token == nil {
            // gh's pairs of a token and a refresh token, which works once.
            entry.token = try keyringToken(of: source, entry, "_refreshable:")
            entry.isProgramsOwn = true
        }
        guard entry.token != nil else { return }
        guard let password = OtherPassword(entry, anybody: anybody) else {
            let whose = [entry.username, entry.host].compactMap(\.self).joined(separator: " at ")
            return findings.cache.rejects.append(.init(what: "password", whose: whose, reason: .malformed))
        }
        if entry.isProgramsOwn {
            findings.refused.append((password, .programsOwn))
        } else {
            findings.passwords.append(password)
        }
    }

    /// Returns go-keyring's secret for a host; its item has the user's name, or no name for the active user.
    private func keyringToken(
        of source: ImportSource, _ entry: HostTokens.Entry, _ prefix: String = ""
    ) throws(CommandError) -> Secret? {
        let items = try items(OtherLocations.tokens(of: source.rawValue, at: prefix + entry.host))
        let names = [entry.username, entry.isActive ? "" : nil].compactMap(\.self)
        return names.lazy.compactMap { name in items.first { $0.attributes["username"] == name }?.secret }.first
    }

    private static func remedy(_ path: String) -> Message {
        "make it private: \("chmod 600\(last: path)" as ShellCommand)"
    }

    /// Reads a cache whose place only the user knows.
    func msalExtensions() throws(CommandError) -> ImportFindings {
        if let file { return try locked(file) }
        let schema = item ?? ""
        guard let findings = try keyringCache(ItemQuery(schema: schema)) else {
            throw CommandError("the keyring has no item of the schema \(schema)")
        }
        return findings
    }

    /// Reads the Azure SDKs' caches: those with the name that was given, or else the usual ones.
    func azureIdentity() throws(CommandError) -> ImportFindings {
        if let file { return try locked(file) }
        var found: [ImportFindings?] = []
        for cache in places.azureIdentityCaches(item) {
            found += try OtherLock(cache.file + OtherLocations.extensionsLock).reading { () throws(CommandError) in
                [try keyringCache(cache.item), try plain(cache.file)]
            }
        }
        found.append(try keyringCache(OtherLocations.azureIdentityScriptItem))
        let all = found.compactMap(\.self)
        guard !all.isEmpty else { throw Self.nothing(.azureIdentity, at: "the keyring or in \(places.azureIdentity)") }
        return all.reduce(into: ImportFindings()) { $0.add($1) }
    }

    /// Reads the Azure Developer CLI's caches: one per account, and an older one for all accounts.
    func azureDeveloperCLI() throws(CommandError) -> ImportFindings {
        let lock = OtherLocations.azureDeveloperCLILock
        if let file { return try locked(file, lock) }
        let caches = places.azureDeveloperCLICaches
        var findings = ImportFindings()
        if session.context.isFile(places.azureDeveloperCLISignIn) {
            let source = try SourceFile(places.azureDeveloperCLISignIn, input: session.context.input)
            if case .application(let client) = AzureDeveloperCLISignIn(source.contents) {
                findings.cache.rejects.append(.init(what: "application's secret", whose: client, reason: .ownerless))
            }
        }
        let names = (try? Folder(caches))?.names(atMost: 1024) ?? []
        let found = names.filter(OtherLocations.isAzureDeveloperCLICache).sorted()
        guard !found.isEmpty || !findings.cache.rejects.isEmpty else {
            throw Self.nothing(.azd, at: caches).with(
                Hint("if it uses the Azure CLI's", run: "lanyard import --from azure-cli"))
        }
        for name in found { findings.add(try locked("\(caches)/\(name)", lock)) }
        return findings
    }

    /// Reads a cache in a file with a lock beside it.
    private func locked(_ path: String, _ lock: String = OtherLocations.extensionsLock) throws(CommandError)
        -> ImportFindings
    {
        let remedy = Self.remedy(path)
        guard path != "-" else { return try unified(path, remedy: remedy) }
        return try OtherLock(path + lock).reading { () throws(CommandError) in try unified(path, remedy: remedy) }
    }

    /// Reads the cache of a program that may work without a keyring; otherwise its file only shows when the cache
    /// changed.
    private func plain(_ path: String) throws(CommandError) -> ImportFindings? {
        guard session.context.isFile(path) else { return nil }
        let source = try SourceFile(path, input: session.context.input)
        return OtherCache(unified: source.contents).map {
            ImportFindings(cache: $0, notes: Self.warning(source, path, remedy: Self.remedy(path)))
        }
    }
}

// Caches that several programs share, and that are locked while they are written.

/// Another program's file, or stdin; it is only read.
struct SourceFile {
    let contents: [UInt8]
    /// Whether it is a regular file that other users can read.
    let isOpenToOthers: Bool

    /// Reads a file; `-` stands for stdin.
    init(_ path: String, input: FileDescriptor) throws(CommandError) {
        do {
            let isInput = path == "-"
            let file = isInput ? input : try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
            defer { if !isInput { try? file.close() } }
            isOpenToOthers = file.isFileOpenToOthers
            contents = try OpenFile.bytes(from: file.rawValue, atMost: OtherCache.mostBytes + 1)
        } catch {
            throw CommandError("\(path) can't be read: \((error as? FileError)?.reason ?? "\(error)")")
        }
        guard contents.count <= OtherCache.mostBytes else {
            throw CommandError("\(path) is longer than \(OtherCache.mostBytes >> 20) MiB")
        }
    }
}

/// Another program's lock; lanyard waits for it but never takes it, because lanyard doesn't change that program's
/// files.
///
/// Some lock files exist only while they are held, and contain the holder's process ID. Others stay, and the kernel
/// knows whether they are locked.
struct OtherLock {
    private let path: String

    /// Creates a lock for a path, whether or not the file exists.
    init(_ path: String) { self.path = path }

    /// The number of seconds after which such programs stop waiting for each other.
    private static let patience = 5

    /// Reads while no other program writes, as far as the lock shows.
    func reading<Result>(_ body: () throws(CommandError) -> Result) throws(CommandError) -> Result {
        let start = time(nil)
        while true {
            while isHeld, time(nil) - start < Self.patience { usleep(50_000) }
            let result = try body()
            // A program that took the lock meanwhile may have written only part.
            if !isHeld || time(nil) - start >= Self.patience { return result }
        }
    }

    private var isHeld: Bool {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return false }
        defer { close(file) }
        guard flock(file, LOCK_SH | LOCK_NB) == 0 else { return true }
        flock(file, LOCK_UN)
        var other = RecordLock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 0, l_pid: 0)
        if fcntl(file, F_GETLK, &other) == 0, other.l_type != Int16(F_UNLCK) { return true }
        // A process that died has left the lock file behind.
        return LockHolder.process(namedIn: file).map(LockHolder.isAlive) ?? false
    }
}

/// The lock description of fcntl(2).
private typealias RecordLock = Glibc.flock
