import Files
import OtherCaches
import Rules
import Secrets
import Terminal
import TokenStore

/// Reads the contents of a source.
struct SourceReader {
    let session: Session
    /// The file to read instead of the program's usual one.
    let file: String?
    /// The item in the keyring to read, if the program may have several.
    var item: String?

    /// Where programs keep their sign-ins; below `~` if HOME isn't set, so that a message can name the place.
    var places: OtherPlaces {
        let context = session.context
        return OtherPlaces(
            home: context.variable("HOME") ?? "~", configHome: context.environment.configHome ?? "~/.config",
            variable: { context.variable($0) })
    }

    /// Reads an exported document, or any MSAL cache.
    func document(_ path: String) throws(Failure) -> ImportFindings {
        try unified(path, remedy: "remove it once it is imported")
    }

    func findings(_ source: ImportSource) throws(Failure) -> ImportFindings {
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

    private func azureCLI() throws(Failure) -> ImportFindings {
        let path = file ?? places.azureCLICache
        if file != nil || session.context.isFile(path) { return try unified(path, remedy: Self.azureRemedy) }
        guard session.context.isFile(places.azureCLISignal) else { throw Self.nothing(.azureCLI, at: path) }
        guard let findings = try keyringCache(OtherPlaces.azureCLIItem) else {
            throw Self.nothing(.azureCLI, at: "the keyring")
        }
        return findings
    }

    private func adal() throws(Failure) -> ImportFindings {
        let path = file ?? places.adalCache
        guard file != nil || session.context.isFile(path) else { throw Self.nothing(.adal, at: path) }
        let source = try SourceFile(path, input: session.context.input)
        guard let cache = OtherCache(adal: source.contents) else {
            throw Failure("\(Self.name(path)) is not a cache of ADAL for Python")
        }
        return ImportFindings(cache: cache, notes: Self.warning(source, path, remedy: Self.azureRemedy))
    }

    private static let azureRemedy = "once it is imported: az logout, then rm that file"

    // MARK: - Files

    static func name(_ path: String) -> String {
        path == "-" ? "the file on stdin" : path.displayable(limit: 500)
    }

    func unified(_ path: String, remedy: String) throws(Failure) -> ImportFindings {
        let source = try SourceFile(path, input: session.context.input)
        guard let cache = OtherCache(unified: source.contents) else {
            throw Failure(
                "\(Self.name(path)) is not an MSAL cache: neither JSON nor base64 of it",
                hints: [Hint("lanyard export writes one; for another program's", run: "lanyard import --from PROGRAM")])
        }
        return ImportFindings(cache: cache, notes: Self.warning(source, path, remedy: remedy))
    }

    /// Returns a warning if other users can read unencrypted tokens.
    static func warning(_ source: SourceFile, _ path: String, remedy: String) -> [String] {
        guard source.isOpenToOthers else { return [] }
        return ["others can read \(name(path)), which holds tokens in plain text; \(remedy)"]
    }

    // MARK: - Keyrings

    private func gitCredentialManager() throws(Failure) -> ImportFindings {
        if let file { return try document(file) }
        var findings = try keyringCache(OtherPlaces.gcmCache) ?? ImportFindings()
        for item in try items(OtherPlaces.gcmPasswords) {
            do throws(SkipReason) {
                findings.passwords.append(try OtherPassword(gcmItem: item.attributes, secret: item.secret))
            } catch {
                let whose = item.attributes["service"] ?? ""
                findings.cache.rejects.append(.init(what: "password", whose: whose, reason: error))
            }
        }
        return findings
    }

    private func gitLibsecret() throws(Failure) -> ImportFindings {
        guard file == nil else {
            throw Failure("git-credential-libsecret has no file", hints: ["leave --file out"], status: .usage)
        }
        let listed = try session.keeping { () throws(StoreError) in try session.passwords.listed() }
        let passwords = listed.compactMap { OtherPassword($0) }
        var findings = ImportFindings()
        // A shared device uses the session's collection and doesn't see the user's own.
        if session.configuration.deviceMode == .shared {
            findings.passwords = passwords
        } else {
            findings.shared = passwords
        }
        return findings
    }

    func keyringCache(_ place: KeyringPlace) throws(Failure) -> ImportFindings? {
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

    func items(_ place: KeyringPlace) throws(Failure) -> [OtherItems.Item] {
        try session.keeping { () throws(StoreError) in
            try OtherItems(configuration: session.store.configuration).items(
                schema: place.schema, attributes: place.attributes)
        }
    }

    static func nothing(_ source: ImportSource, at place: String) -> Failure {
        Failure(
            "\(source.name) has no \(source.isOfHosts ? "settings" : "cache") at \(place.displayable(limit: 500))",
            hints: [Hint("name the file", run: "lanyard import --from \(source.rawValue) --file FILE")])
    }
}
