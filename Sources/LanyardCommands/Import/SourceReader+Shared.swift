import Files
import OtherCaches
import Secrets
import Terminal

// Caches that several programs share, and that are locked while they are written.

extension SourceReader {
    private static let microsoft = ["MsalClientID": "Microsoft.Developer.IdentityService"]
    private static func remedy(_ path: String) -> String {
        "make it private: \(("chmod 600\(last: path)" as ShellCommand).text)"
    }

    /// Reads a cache whose place only the user knows.
    func msalExtensions() throws(Failure) -> ImportFindings {
        if let file { return try locked(file) }
        let schema = item ?? ""
        guard let findings = try keyringCache(schema: schema, [:]) else {
            throw Failure("the keyring has no item of the schema \(schema.displayable(limit: 200))")
        }
        return findings
    }

    /// Reads the caches with a name; some programs have two, for tokens that can be revoked at once and for others,
    /// .NET and Java only one.
    func azureIdentity() throws(Failure) -> ImportFindings {
        if let file { return try locked(file) }
        let name = item ?? "msal.cache"
        let folder = "\(session.context.variable("HOME") ?? "~")/.IdentityService"
        var findings = ImportFindings()
        var isFound = false
        for name in ["\(name).nocae", "\(name).cae", name] {
            let path = "\(folder)/\(name)"
            let found = try OtherLock("\(path).lockfile").reading { () throws(Failure) in
                (try keyringCache(schema: name, Self.microsoft), try plain(path))
            }
            for more in [found.0, found.1].compactMap(\.self) {
                findings.add(more.cache)
                findings.notes += more.notes
                isFound = true
            }
        }
        let script = ["service": "Microsoft.Developer.IdentityService", "account": "MSALCache"]
        if let more = try keyringCache(schema: nil, script) {
            findings.add(more.cache)
            isFound = true
        }
        guard isFound else { throw Self.nothing(.azureIdentity, at: "the keyring or in \(folder)") }
        return findings
    }

    /// Reads the Azure Developer CLI's caches: one per account, and an older one for all accounts.
    func azureDeveloperCLI() throws(Failure) -> ImportFindings {
        if let file { return try locked(file, ".lock") }
        let folder =
            session.context.variable("AZD_CONFIG_DIR") ?? "\(session.context.variable("HOME") ?? "~")/.azd"
        let caches = "\(folder)/auth/msal"
        var findings = ImportFindings()
        if SourceFile.exists("\(folder)/auth.json") {
            let source = try SourceFile("\(folder)/auth.json", input: session.context.input)
            if case .application(let client) = AzureDeveloperCLISignIn(source.contents) {
                findings.cache.rejects.append(.init(what: "application's secret", whose: client, reason: .ownerless))
            }
        }
        let found = Self.names(in: caches).filter { $0.hasPrefix("cache") && $0.hasSuffix(".json") }.sorted()
        guard !found.isEmpty || !findings.cache.rejects.isEmpty else {
            throw Self.nothing(.azd, at: caches).with(
                Hint("if it uses the Azure CLI's", run: "lanyard import --from azure-cli"))
        }
        for name in found {
            let more = try locked("\(caches)/\(name)", ".lock")
            findings.add(more.cache)
            findings.notes += more.notes
        }
        return findings
    }

    private static func names(in folder: String) -> [String] {
        guard let folder = try? Folder(folder) else { return [] }
        return folder.names(atMost: 1024)
    }

    /// Reads a cache in a file with a lock beside it.
    private func locked(_ path: String, _ lock: String = ".lockfile") throws(Failure) -> ImportFindings {
        let remedy = Self.remedy(path)
        guard path != "-" else { return try unified(path, remedy: remedy) }
        return try OtherLock(path + lock).reading { () throws(Failure) in try unified(path, remedy: remedy) }
    }

    /// Reads the cache of a program that may work without a keyring; otherwise its file only shows when the cache
    /// changed.
    private func plain(_ path: String) throws(Failure) -> ImportFindings? {
        guard SourceFile.exists(path) else { return nil }
        let source = try SourceFile(path, input: session.context.input)
        return OtherCache(unified: source.contents).map {
            ImportFindings(cache: $0, notes: Self.warning(source, path, remedy: Self.remedy(path)))
        }
    }
}
