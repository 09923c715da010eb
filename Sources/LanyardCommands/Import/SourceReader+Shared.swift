import Files
import OtherCaches
import Secrets
import Terminal

// Caches that several programs share, and that are locked while they are written.

extension SourceReader {
    private static func remedy(_ path: String) -> String {
        "make it private: \(("chmod 600\(last: path)" as ShellCommand).text)"
    }

    /// Reads a cache whose place only the user knows.
    func msalExtensions() throws(Failure) -> ImportFindings {
        if let file { return try locked(file) }
        let schema = item ?? ""
        guard let findings = try keyringCache(KeyringPlace(schema: schema)) else {
            throw Failure("the keyring has no item of the schema \(schema.displayable(limit: 200))")
        }
        return findings
    }

    /// Reads the Azure SDKs' caches: those with the name that was given, or else the usual ones.
    func azureIdentity() throws(Failure) -> ImportFindings {
        if let file { return try locked(file) }
        var found: [ImportFindings?] = []
        for cache in places.azureIdentityCaches(item) {
            found += try OtherLock(cache.file + OtherPlaces.extensionsLock).reading { () throws(Failure) in
                [try keyringCache(cache.item), try plain(cache.file)]
            }
        }
        found.append(try keyringCache(OtherPlaces.azureIdentityScriptItem))
        let all = found.compactMap(\.self)
        guard !all.isEmpty else { throw Self.nothing(.azureIdentity, at: "the keyring or in \(places.azureIdentity)") }
        return all.reduce(into: ImportFindings()) { $0.add($1) }
    }

    /// Reads the Azure Developer CLI's caches: one per account, and an older one for all accounts.
    func azureDeveloperCLI() throws(Failure) -> ImportFindings {
        let lock = OtherPlaces.azureDeveloperCLILock
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
        let found = names.filter(OtherPlaces.isAzureDeveloperCLICache).sorted()
        guard !found.isEmpty || !findings.cache.rejects.isEmpty else {
            throw Self.nothing(.azd, at: caches).with(
                Hint("if it uses the Azure CLI's", run: "lanyard import --from azure-cli"))
        }
        for name in found { findings.add(try locked("\(caches)/\(name)", lock)) }
        return findings
    }

    /// Reads a cache in a file with a lock beside it.
    private func locked(_ path: String, _ lock: String = OtherPlaces.extensionsLock) throws(Failure) -> ImportFindings {
        let remedy = Self.remedy(path)
        guard path != "-" else { return try unified(path, remedy: remedy) }
        return try OtherLock(path + lock).reading { () throws(Failure) in try unified(path, remedy: remedy) }
    }

    /// Reads the cache of a program that may work without a keyring; otherwise its file only shows when the cache
    /// changed.
    private func plain(_ path: String) throws(Failure) -> ImportFindings? {
        guard session.context.isFile(path) else { return nil }
        let source = try SourceFile(path, input: session.context.input)
        return OtherCache(unified: source.contents).map {
            ImportFindings(cache: $0, notes: Self.warning(source, path, remedy: Self.remedy(path)))
        }
    }
}
