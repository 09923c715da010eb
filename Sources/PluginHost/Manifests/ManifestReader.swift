import Addresses
import Claims
import PluginWire
import Secrets
import SettingsFile
import Terminal

/// Parses the text of a `plugin.toml`.
///
/// An unknown key may come from a later version, so it is noted rather than an error. In a table of an array it may
/// restrict the table's other keys, so the whole table is left out.
struct ManifestReader {
    /// The longest manifest, in bytes.
    static let longestFile = 256 * 1024

    /// The keys of each table; those outside all tables are under "".
    static let keys = [
        "": [
            "name", "version", "description", "protocols", "executable", "arguments", "kind", "flows", "supports",
            "redirect-uri", "authority", "options", "source", "issuer", "bare-scopes", "identities", "variables",
            "identity-selector", "identity", "environments", "shared-realm", "resource", "exchange", "client-id",
            "client-ids", "client-registration", "client", "realm-authority", "reserved-parameters", "challenge-paths",
        ],
        "authority": ["hosts", "path", "realms", "broker-of"],
        "source": ["name", "program", "secret", "username", "kinds", "asks", "unlock", "keep-for"],
        "issuer": [
            "kind", "hosts", "other-hosts", "other-scopes", "repository-scopes", "scopes", "flows", "username",
            "placeholder-usernames", "bearer", "id-tokens", "revokes-on-renewal", "name", "git-hosts", "realms",
            "registration", "redirect-uri",
        ],
        "identity": ["variables", "selectors", "authority", "client-id", "proof"],
        "shared-realm": ["name", "homes"],
        "resource": ["name", "hosts", "scopes", "clients", "git-hosts", "ignores-path-case"],
        "exchange": ["name", "hosts", "scopes", "per-path", "parameters"],
        "client": ["name", "id", "description", "kinds", "redirect-uri", "flows"],
    ]

    let file: String
    let text: String

    /// - Parameters:
    ///   - text: The manifest.
    ///   - file: The path of the manifest, for messages.
    init(_ text: String, file: String) {
        self.text = text
        self.file = file
    }

    /// Returns the manifest, and the `executable` in it, which hasn't been located yet.
    func read() throws(SettingsError) -> (manifest: PluginManifest, executable: String) {
        let table = try SettingsTable(file: file, text: text)
        let unknown = table.unknown(besides: Self.keys[""] ?? [])
        do throws(SettingsError) {
            return try read(table, noting: unknown)
        } catch {
            // The missing key is probably there, but misspelt.
            guard error.line == nil else { throw error }
            guard let fault = unknown.first else { throw misplaced(error, in: table) ?? error }
            throw SettingsError(
                file: fault.file, line: fault.line, message: "\(error.message), and there is an \(fault.message)",
                hint: fault.hint)
        }
    }

    /// Returns the line that sets a key outside all tables; nil if none does.
    func line(of key: String) -> Int? { (try? SettingsTable(file: file, text: text))?.line(of: key) }

    private func read(
        _ table: SettingsTable, noting unknown: [SettingsError]
    ) throws(SettingsError) -> (PluginManifest, String) {
        var manifest = PluginManifest(name: try table.requiredText("name", .pluginName))
        manifest.notes = unknown
        manifest.version = try table.requiredText("version", .token(64))
        manifest.summary = try table.requiredText("description", .text(256))
        manifest.protocols = try table.requiredList("protocols", .token(32))
        manifest.arguments = try table.list("arguments", .text(1024))
        manifest.kind = try table.text("kind", .pluginName)
        manifest.flows = try table.flows("flows")
        manifest.supports = Set(try supports(table))
        manifest.redirectURI = try table.text("redirect-uri", .page)
        manifest.bareScopes = try table.text("bare-scopes", .scope)
        (manifest.realmAuthority, manifest.realmDomain) = try realmAuthority(table)
        manifest.clientID = try table.text("client-id", .token(256))
        manifest.clientIDs = try clientIDs(table)
        manifest.reservedParameters = Set(try table.list("reserved-parameters", .token(128)).map { $0.lowercased() })
        manifest.challengePaths = try table.list("challenge-paths", .token(128))
        manifest.clientRegistration = try table.text("client-registration", .text(512))
        manifest.identities = try table.list("identities", .pluginName).map(PluginIdentity.Kind.init(rawValue:))
        manifest.variables = try table.list("variables", .variableOrFile)
        manifest.identitySelector = try table.text("identity-selector", .fieldName)
        try readTables(table, into: &manifest)
        // A manifest that names a redirect URI says by that that its plugin takes one.
        let redirects = manifest.clients.map(\.redirectURI) + manifest.issuers.map(\.registration.redirectURI)
        if (redirects + [manifest.redirectURI]).contains(where: { $0 != nil }) {
            manifest.supports.insert(.redirectURI)
        }
        return (manifest, try table.requiredText("executable", .text(4096)))
    }

    private func supports(_ table: SettingsTable) throws(SettingsError) -> [PluginSupport] {
        try table.list("supports", .pluginName).enumerated().map { index, name throws(SettingsError) in
            guard let word = PluginSupport(rawValue: name) else {
                let words = PluginSupport.allCases.map(\.rawValue)
                throw table.unknown(name, at: index, in: "supports", besides: words)
            }
            return word
        }
    }

    private func clientIDs(_ table: SettingsTable) throws(SettingsError) -> ClientIDForm? {
        guard let name = try table.text("client-ids", .pluginName) else { return nil }
        guard let form = ClientIDForm(rawValue: name) else {
            throw table.error("client-ids", "`client-ids` is \(name), which is not a form of client ID")
        }
        return form
    }

    private func readTables(_ table: SettingsTable, into manifest: inout PluginManifest) throws(SettingsError) {
        var rows = ManifestRows(table: table)
        for (kind, pattern) in try rows.read("authority", authorityOrBroker) {
            if let kind {
                manifest.brokered.append(BrokerPattern(kind: kind, authority: pattern))
            } else {
                manifest.authorities.append(pattern)
            }
        }
        manifest.leftOut = rows.leftOut.compactMap(claimed)
        manifest.losesHosts = rows.leftOut.contains(where: losesHosts)
        if !manifest.brokered.isEmpty, !manifest.flows.contains(.broker) {
            throw table.error("flows", "`flows` must name broker, since an [[authority]] has `broker-of`")
        }
        manifest.environments = try table.environments()
        manifest.sharedRealms = try rows.read("shared-realm", sharedRealm)
        manifest.resources = try rows.read("resource") { row throws(SettingsError) in
            PluginResource(
                name: try row.requiredText("name", .text(128)),
                hosts: try row.requiredList("hosts", .hostPattern).map { $0.lowercased() },
                scopes: try row.requiredList("scopes", .scope), gitHosts: try row.list("git-hosts", .host),
                clients: try row.list("clients", .pluginName),
                ignoresPathCase: try row.boolean("ignores-path-case") ?? false)
        }
        manifest.exchanges = try rows.read("exchange") { row throws(SettingsError) in
            PluginExchange(
                name: try row.requiredText("name", .pluginName),
                hosts: try row.requiredList("hosts", .exchangeHost).map { $0.lowercased() },
                scopes: try row.list("scopes", .scope), isPerPath: try row.boolean("per-path") ?? false,
                parameters: try row.list("parameters", .pluginName))
        }
        manifest.sources = try rows.read("source", source)
        manifest.leftOutSources = rows.leftOut.compactMap(claimedSource)
        manifest.losesHosts = manifest.losesHosts || manifest.leftOutSources.count < rows.leftOut.count
        for (index, option) in try table.list("options", .token(128)).enumerated() {
            let (name, form) = option.cut(at: "=") ?? (option[...], nil)
            manifest.options.append(String(name))
            guard let form else { continue }
            guard ["url", "seconds"].contains(form) || form.hasBytes("*") else {
                throw table.error(
                    "options", element: index, "`options` holds \"\(option)\", whose form is unknown",
                    hint: "the forms are url, seconds, and patterns with *")
            }
            manifest.optionForms[String(name)] = String(form)
        }
        manifest.issuers = try rows.read("issuer", issuer)
        manifest.clients = try rows.read("client", client)
        manifest.identityPatterns = try rows.read("identity") { row throws(SettingsError) in
            try row.identityPattern()
        }
        manifest.notes += rows.notes
        manifest.notes += try strangeWords(table)
    }

    /// Notes about flows and kinds of identity that lanyard doesn't know, and so never asks for.
    private func strangeWords(_ table: SettingsTable) throws(SettingsError) -> [SettingsError] {
        let flows = [PluginRequest.Flow.browser, .deviceCode, .paste, .broker].map(\.rawValue)
        let kinds = [PluginIdentity.Kind.client, .managed].map(\.rawValue)
        var lists = [(table, "flows", flows), (table, "identities", kinds)]
        lists += try (table.tables("client") + table.tables("issuer")).map { ($0, "flows", flows) }
        var notes: [SettingsError] = []
        for (table, key, known) in lists {
            for (index, word) in (try table.strings(key) ?? []).enumerated()
            where !known.contains(word.removing(suffix: Self.secretMark) ?? word) {
                notes.append(table.unknown(word, at: index, in: key, besides: known))
            }
        }
        return notes
    }

    /// Returns the authorities that a row names, and the kind of the plugin that they are a broker's of; nil if they are its
    /// own.
    private func authorityOrBroker(
        _ table: SettingsTable
    ) throws(SettingsError) -> (broker: String?, pattern: AuthorityPattern) {
        (try table.text("broker-of", .pluginName), try authority(table))
    }

    func authority(_ table: SettingsTable) throws(SettingsError) -> AuthorityPattern {
        var pattern = AuthorityPattern(
            hosts: try table.requiredList("hosts", .anyHostPattern).map { $0.lowercased() },
            path: try segments(table))
        (pattern.realms, pattern.exceptRealms) = try selection("realms", of: table)
        return pattern
    }

    /// Returns the authority of a realm that people type alone, with `{realm}` as its last segment, and the domain that a realm
    /// of one label lacks: the rest of `{realm:DOMAIN}`.
    private func realmAuthority(_ table: SettingsTable) throws(SettingsError) -> (String?, String?) {
        let key = "realm-authority"
        guard let text = try table.text(key, .token(2048)) else { return (nil, nil) }
        let cut = text.cut(atText: "{realm")
        let domain = cut.flatMap {
            $0.1.hasPrefix(":") && $0.1.hasSuffix("}") ? String($0.1.dropFirst().dropLast()) : nil
        }
        guard let (start, rest) = cut, domain.map(WireForm.host.accepts) ?? rest.isSame(as: "}"), start.hasSuffix("/"),
            AuthorityURL("\(start)x") != nil
        else {
            throw table.error(
                key, "`\(key)` is \"\(text)\", which can't be used",
                hint: "write an https URL whose last segment is {realm} or {realm:DOMAIN}")
        }
        return ("\(start){realm}", domain)
    }

    /// Returns the names in a list, in lower case, and those that it excludes with a `!`.
    private func selection(
        _ key: String, of table: SettingsTable
    ) throws(SettingsError) -> (only: [String], except: [String]) {
        let names = try table.list(key, .token(256)).map { $0.lowercased() }
        let excluded = names.filter { $0.hasPrefix("!") }
        return (names.filter { !$0.hasPrefix("!") }, excluded.map { String($0.dropFirst()) })
    }

    private func sharedRealm(_ table: SettingsTable) throws(SettingsError) -> SharedRealm {
        var realm = SharedRealm(name: try table.requiredText("name", .token(256)).lowercased())
        (realm.homes, realm.exceptHomes) = try selection("homes", of: table)
        return realm
    }

    private func issuer(_ table: SettingsTable) throws(SettingsError) -> PluginIssuer {
        var issuer = PluginIssuer(
            kind: try table.requiredText("kind", .pluginName),
            hosts: try table.list("hosts", .hostPattern).map { $0.lowercased() })
        issuer.scopes = try table.strings("scopes") == nil ? nil : table.list("scopes", .scope)
        issuer.repositoryScopes =
            try table.strings("repository-scopes") == nil ? nil : table.list("repository-scopes", .scope)
        for flow in try table.list("flows", .token(64)) {
            let name = flow.removing(suffix: Self.secretMark)
            issuer.flows.append(.init(rawValue: name ?? flow))
            if let name { issuer.secretFlows.append(.init(rawValue: name)) }
        }
        issuer.username = try table.text("username", .basicUsername)
        issuer.placeholderUsernames =
            try table.strings("placeholder-usernames") == nil
            ? nil : table.list("placeholder-usernames", .basicUsername)
        issuer.takesBearer = try table.boolean("bearer") ?? (issuer.username == nil)
        issuer.givesIDTokens = try table.boolean("id-tokens") ?? true
        issuer.revokesOnRenewal = try table.boolean("revokes-on-renewal") ?? false
        issuer.name = try table.text("name", .text(64)) ?? ""
        issuer.gitHosts = try table.list("git-hosts", .hostPattern).map { $0.lowercased() }
        issuer.otherHosts = try table.list("other-hosts", .hostPattern).map { $0.lowercased() }
        issuer.otherScopes = try table.list("other-scopes", .scope)
        issuer.realms = try table.list("realms", .text(128))
        issuer.registration = try registration(table)
        return issuer
    }

    private func registration(_ table: SettingsTable) throws(SettingsError) -> IssuerRegistration {
        var registration = IssuerRegistration()
        registration.redirectURI = try table.text("redirect-uri", .page)
        let texts = try table.list("registration", .text(512))
        guard texts.count <= 2, texts.first.map(WireForm.endpoint.accepts) ?? true else {
            throw table.error(
                "registration", "`registration` is not a page and what to do on it",
                hint: "write an https URL, or a path below the authority's URL, and a sentence")
        }
        registration.page = texts.first
        registration.advice = texts.dropFirst().first
        return registration
    }

    private func client(_ table: SettingsTable) throws(SettingsError) -> PluginClient {
        var client = PluginClient(
            name: try table.requiredText("name", .pluginName), id: try table.requiredText("id", .token(256)))
        client.summary = try table.text("description", .text(256)) ?? ""
        client.kinds = try table.list("kinds", .pluginName)
        client.redirectURI = try table.text("redirect-uri", .page)
        client.flows = try table.flows("flows")
        return client
    }

    /// What a flow's name ends with if the client needs its secret in it.
    private static let secretMark = "+secret"

    func segments(_ table: SettingsTable) throws(SettingsError) -> [AuthorityPattern.Segment] {
        let path = try table.requiredText("path", .token(512))
        let segments = path.pieces(between: "/", omittingEmpty: false).dropFirst().map(segment)
        guard path.hasPrefix("/"), !segments.isEmpty, segments.count <= AuthorityURL.mostSegments,
            segments.count(where: { $0 == .realm }) <= 1, segments.count(where: \.isPolicy) <= 1,
            !segments.dropLast().contains(.rest), segments.last != .rest || !segments.contains(.realm),
            segments.allSatisfy({ $0 != .literal("") }), !segments.contains(where: \.isUnknownBrace)
        else {
            throw table.error(
                "path", "`path` is \(path), not segments such as /tfp/{realm}/{policy}",
                hint:
                    "begin each with a slash, and end without; write literal segments, {realm} and {policy}, each once at most; {path} only last, for {realm}"
            )
        }
        return segments
    }

    private func segment(_ text: Substring) -> AuthorityPattern.Segment {
        switch text {
        case "{realm}": .realm
        case "{policy}": .policy(nil)
        case let glob where glob.hasPrefix("{policy:") && glob.hasSuffix("}"):
            .policy(glob.dropFirst(8).dropLast().lowercased())
        case "{path}": .rest
        default: .literal(text.lowercased())
        }
    }
}

/// The tables of a manifest, without those that have unknown keys.
private struct ManifestRows {
    let table: SettingsTable
    /// Notes about the tables that were left out.
    var notes: [SettingsError] = []
    /// The tables of the last kind that were left out.
    var leftOut: [SettingsTable] = []

    mutating func read<Row>(
        _ key: String, _ read: (SettingsTable) throws(SettingsError) -> Row
    ) throws(SettingsError) -> [Row] {
        var rows: [Row] = []
        leftOut = []
        for row in try table.each(key) {
            let unknown = row.unknown(besides: ManifestReader.keys[key] ?? [])
            if unknown.isEmpty { rows.append(try read(row)) } else { leftOut.append(row) }
            notes += unknown.map {
                SettingsError(
                    file: $0.file, line: $0.line, message: "\($0.message): this [[\(key)]] is left out", hint: $0.hint)
            }
        }
        return rows
    }
}

extension SettingsTable {
    /// The error for a word in a list that nobody knows.
    fileprivate func unknown(_ word: String, at index: Int, in key: String, besides known: [String]) -> SettingsError {
        error(
            key, element: index, "`\(key)` holds \"\(word)\", which this version of lanyard doesn't know",
            hint: known.nearest(to: word).map { "did you mean \"\($0)\"?" }
                ?? "the words are \(known.joined(separator: ", "))")
    }

    fileprivate func flows(_ key: String) throws(SettingsError) -> [PluginRequest.Flow] {
        try list(key, .token(64)).map(PluginRequest.Flow.init(rawValue:))
    }
}

extension String {
    /// The text without what it ends with; nil if it ends otherwise.
    fileprivate func removing(suffix: String) -> String? {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : nil
    }
}

extension AuthorityPattern.Segment {
    fileprivate var isPolicy: Bool {
        if case .policy = self { true } else { false }
    }

    fileprivate var isUnknownBrace: Bool {
        guard case .literal(let text) = self else { return false }
        return text.utf8.contains { "{}*?#%".utf8.contains($0) }
    }
}
