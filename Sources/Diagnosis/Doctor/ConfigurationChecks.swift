import Addresses
import Claims
import CommandKit
import CredentialEngine
import Files
import Glibc
import Keyring
import Model
import PluginHost
import PluginWire
import Rules
import Secrets
import SettingsFile
import Terminal
import TokenAcquisition

extension Examination {
    /// Checks the configuration files.
    var configurationFindings: [Finding] {
        [.pass("lanyard", "\(Version.current), \(context.short(context.executable))"), file]
            + configuration.unknown.map { fault in
                let place: Message = fault.line.map { ":\($0)" } ?? ""
                return .warn(
                    "configuration", fault.inFile, fault.hints.first ?? "it may be of a later lanyard",
                    "edit \(context.short(fault.file))\(place)")
            }
            + configuration.rules.compactMap(finding) + [clients, mode, policy].compactMap(\.self)
    }

    private var file: Finding {
        if let error = configurationError {
            let place: Hint = "edit \(context.short(error.file))\(error.line.map { ":\($0)" } ?? "")"
            return .fail("configuration", error.inFile, error.hints.first ?? place, "see lanyard-config(5)")
        }
        let own = Configuration.userFile(environment: context.environment)
        let paths = ((try? Configuration.appsFiles()) ?? []) + [Configuration.systemFile, own].compactMap(\.self)
        let read = paths.filter(context.isFile).map(context.short)
        let count = configuration.rules.count
        let text: Message =
            "\(count) \(count == 1 ? "rule" : "rules"), \(read.isEmpty ? "no file" : read.joined(separator: ", "))"
        guard count == 0, configuration.clientID == nil, configuration.apps.isEmpty,
            configuration.defaultIdentity == nil, configuration.agent == nil
        else {
            return .pass("configuration", text)
        }
        return .warn(
            "configuration", "\(text): nothing says which URL needs a token",
            .namingHome ?? .addingRule(), "passwords work without a rule")
    }

    /// Returns a finding for a rule that can't work, or that looks odd.
    private func finding(_ rule: Rule) -> Finding? {
        // That is a finding of its own.
        guard rule.unknownKey == nil else { return nil }
        let name: Message = "the rule for \(rule.pattern.text)"
        let place: Message = "edit \(rule.place(context))"
        if let source = rule.source {
            let known = PluginRegistry.parts(ofSource: source).name
            if registry.source(named: known) != nil {
                return context.fault(inSource: source, options: [:]).map { fault in
                    .fail("rule", CommandError("\(name): \(fault.message)", hints: [Hint(place)] + fault.hints))
                }
            }
            return .fail("rule", "\(name): no plugin has the source \(known)", Hint(place))
        }
        if let identity = rule.identity {
            let found: AuthorityMatch?
            do throws(ResolutionError) {
                found = registry.match(try configuration.identity(named: identity), of: rule)
            } catch {
                return failed(name, place, error)
            }
            if let found, let mistake = registry.mistake(in: rule, at: found) { return failed(name, place, mistake) }
            guard !rule.authority.isEmpty else { return nil }
        }
        if let kind = rule.kind, !registry.plugins.contains(where: { $0.kinds.contains(kind) }) {
            return failed(name, place, .noScopes(authority: rule.authority, kind: kind))
        }
        guard let match = registry.match(rule) else {
            if let kind = rule.kind, !registry.kinds.contains(kind) {
                return failed(name, place, .noScopes(authority: rule.authority, kind: kind))
            }
            return .fail(
                "rule", "\(name): no plugin supports \(rule.authority)", Hint(place),
                Hint("see which plugins there are", run: "lanyard plugin list"))
        }
        // That is a finding of its own, and what the plugin knows about the rule is unknown.
        guard match.plugin.problem == nil else { return nil }
        if let row = match.issuer, !row.hosts.contains(match.authority.host),
            let known = match.plugin.issuers.first(where: { $0.hosts.contains(match.authority.host) })
        {
            return .warn(
                "rule", "\(name): \(match.authority.host) is of the kind \(known.kind), not \(row.kind)", Hint(place))
        }
        if rule.identity == nil, let finding = clientFinding(rule, name, place, match) { return finding }
        if let reserved = match.plugin.reserved(in: rule.signIn) {
            return failed(name, place, .badParameter(.reserved(reserved)))
        }
        let exchange = registry.exchange(named: rule.exchange, forHost: rule.pattern.host.text, at: match)
        if rule.identity == nil, let mistake = registry.mistake(in: rule, at: match) {
            return failed(name, place, mistake)
        }
        guard
            !rule.scopes.isEmpty || rule.token == .id || match.issuer?.scopes != nil
                || exchange?.scopes.isEmpty == false
        else {
            return .fail("rule", "\(name) has no scopes", Hint(place, write: "scopes = [\"…\"]"))
        }
        guard rule.pattern.isTokenPlace else {
            let why = CommandError.unencrypted(rule.pattern.scheme)
            return .fail("rule", "\(name) is never used: \(why)", Hint(place, write: "https://"))
        }
        if rule.pattern.isForManyOwners {
            return .warn(
                "rule", "\(name) is for hosts of many owners, and each of them gets your tokens",
                Hint(place, write: "https://*.contoso.com"))
        }
        return registry.lookAlike(of: match.authority.host).map { twin in
            let host = match.authority.host
            return .warn("rule", "\(name) signs in at \(host), which looks like \(twin)", Hint(place, write: twin))
        }
    }

    /// What keeps a rule from working.
    private func failed(_ name: Message, _ place: Message, _ error: ResolutionError) -> Finding {
        let failure = CommandError(error, in: context)
        return .fail("rule", CommandError("\(name): \(failure.message)", hints: [Hint(place)] + failure.hints))
    }

    /// Returns a problem with a rule's client.
    private func clientFinding(_ rule: Rule, _ name: Message, _ place: Message, _ match: AuthorityMatch) -> Finding? {
        guard let client = configuration.clientID(of: rule) ?? match.plugin.clientID else {
            return .fail("rule", "\(name) has no client ID", Hint(place, write: "client-id = \"…\""))
        }
        do throws(ResolutionError) { _ = try configuration.clientID(client, at: match) } catch {
            return failed(name, place, error)
        }
        return nil
    }

    /// The well-known apps that the rules use.
    private var clients: Finding? {
        let used = configuration.rules.compactMap { rule in
            configuration.clientID(of: rule).flatMap { registry.match(rule)?.client($0) }
        }
        let texts = Set(used.map { $0.summary.isEmpty ? $0.name : "\($0.name): \($0.summary)" })
        return texts.isEmpty ? nil : .pass("apps", "\(texts.sorted().joined(separator: "; "), limit: 2000)")
    }

    private var mode: Finding {
        switch configuration.deviceMode {
        case .personal: .pass("device", "personal: sign-ins stay in the login keyring")
        case .shared: .pass("device", "shared: everything is deleted at log-out")
        }
    }

    private var policy: Finding? {
        var says: [String] = []
        if !configuration.lockedKeys.isEmpty {
            says.append("locks \(configuration.lockedKeys.sorted().joined(separator: ", "))")
        }
        if let clients = configuration.wellKnownClients {
            let names = clients.map { $0.displayable(limit: 64) }.joined(separator: ", ")
            says.append(clients.isEmpty ? "forbids well-known apps" : "forbids well-known apps except \(names)")
        }
        guard !says.isEmpty else { return nil }
        return .pass("policy", "\(Configuration.systemFile) \(says.joined(separator: ", and "))")
    }

    /// The plugins that can't be used: what they are for doesn't work, since no other plugin does it.
    var unusablePluginFindings: [Finding] {
        registry.problems.map { problem in
            let name: Message = problem.plugin.map { "\($0) can't be used: " } ?? ""
            return .fail(
                "plugin",
                CommandError(
                    "\(name)\(problem)", hints: problem.hints.isEmpty ? ["see lanyard-plugin(7)"] : problem.hints))
        }
    }

    /// Checks the plugins that can be used.
    var pluginFindings: [Finding] {
        let names = registry.plugins.map { "\($0.name) \($0.version)" }.joined(separator: ", ")
        let found: Finding =
            names.isEmpty
            ? .fail(
                "plugins", "none is installed, so lanyard can't get tokens",
                Hint("install lanyard again", run: "script/install"))
            : .pass("plugins", "\(names)")
        return [found]
            + configuration.pluginOptions.sorted { $0.key < $1.key }.flatMap { plugin, options in
                options.sorted { $0.key < $1.key }.compactMap { option, value in
                    do throws(CommandError) {
                        _ = try context.pluginOption("plugin.\(plugin).\(option)", value: value)
                    } catch {
                        return Finding.fail("plugin", error)
                    }
                    return nil
                }
            }
            + registry.notes.map { problem in
                .warn("plugin", problem.inFile, problem.hints.first ?? "see lanyard-plugin(7)")
            }
            + registry.precedences.map { precedence in
                .warn(
                    "plugin", precedence.text,
                    "if that isn't meant, change or remove \(context.short(precedence.plugin.folder))")
            }
    }

    /// Checks that what proves the configured identities exists: a finding for each identity, and for a default
    /// identity that doesn't exist.
    var identityFindings: [Finding] { configuration.identities.map(finding) + [defaultIdentity].compactMap(\.self) }

    private func finding(_ identity: Identity) -> Finding {
        let place: Message = "edit \(identity.place(context))"
        if let lack = lackOfPlugin(identity) {
            return .fail(
                "identity", "\(identity.name): \(lack)", Hint(place),
                Hint("see which plugins there are", run: "lanyard plugin list"))
        }
        if let path = identity.proofFile, let fault = CertificateState(path) {
            let isOpen = [.open, .writable].contains(fault)
            let level: Finding.Level = fault == .open ? .warn : .fail
            let change = ShellCommand(words: (FileStatus(of: path)?.sudo ?? []) + ["chmod", "go-rwx", path])
            return Finding(
                check: "identity", level: level,
                message: "\(identity.name): \(path) \(fault.rawValue)",
                remedies: [isOpen ? Hint("make it private", run: change) : Hint(place)])
        }
        if let variable = identity.secretVariable, context.variable(variable) == nil {
            return .warn(
                "identity", "\(identity.name): \(variable) is not set here",
                "set it where the identity is used, to the secret")
        }
        return .pass("identity", "\(identity.name), proved by \(identity.displayedProof)")
    }

    private func lackOfPlugin(_ identity: Identity) -> Message? {
        guard let application = identity.application else {
            guard case .machine(_, let plugin) = identity.source,
                registry.machine(authority: MachineIdentity.authority(of: plugin)) == nil
            else { return nil }
            return MachineIdentity.lack(ofPlugin: plugin)
        }
        let match = registry.match(
            authority: application.authority, kind: application.kind, isConfigured: true)
        guard let match else { return "no plugin supports \(application.authority)" }
        return match.lack(of: application)
    }

    private var defaultIdentity: Finding? {
        guard let name = configuration.defaultIdentity else { return nil }
        do throws(ResolutionError) { _ = try configuration.identity(named: name) } catch {
            return .fail("identity", CommandError(error, in: context))
        }
        return .pass("identity", "the default is \(name)")
    }

    /// Checks the client secrets that the rules' issuers need, if the keyring can be read: returns a finding for each
    /// client at an issuer that uses its secret.
    func clientSecretFindings() throws(KeyringError) -> [Finding] {
        var findings: [Finding] = []
        var seen: Set<[String?]> = []
        for rule in configuration.rules {
            guard rule.identity == nil, let id = configuration.clientID(of: rule),
                seen.insert([id, rule.authority, rule.kind]).inserted,
                let match = registry.match(rule), match.plugin.supports.contains(.clientSecrets)
            else { continue }
            let stored = try clientSecrets.secret(of: id, at: match)
            if let stored, let end = stored.end(ifOverAt: context.now) {
                findings.append(ended(stored, end, rule, of: id))
            } else if let issuer = match.issuer, !issuer.secretFlows.isEmpty {
                findings.append(finding(stored != nil, of: id, isOwn: rule.clientID != nil, at: match, issuer))
            }
        }
        return findings
    }

    private func ended(_ secret: ClientSecret, _ end: Int, _ rule: Rule, of id: String) -> Finding {
        let name: Message = "\(id) at \(rule.authority)"
        let hints = secret.hints(afterEnd: end, rule: rule.pattern.text, authority: rule.authority)
        return .fail("client-secret", CommandError("that of \(name) has expired", hints: hints))
    }

    private func finding(
        _ isStored: Bool, of id: String, isOwn: Bool, at match: AuthorityMatch, _ issuer: PluginIssuer
    ) -> Finding {
        let name = "\(id.displayable(limit: 100)) at \(match.authority)"
        let store = Hint("the app's registration shows it; store it", run: .storingSecret(of: id))
        if isStored { return .pass("client-secret", "that of \(name) is stored") }
        guard let more = issuer.flowsBySecret else {
            let lack: Message = "\(match.authority) requires that of \(id), and none is stored"
            // An organisation's table is also for users who don't go there.
            return isOwn ? .fail("client-secret", lack, store) : .warn("client-secret", lack, store)
        }
        return Finding(check: "client-secret", level: .pass, message: "\(name): \(more)", remedies: [store])
    }
}

/// A problem with a file that proves an identity; the text follows the path.
private enum CertificateState: String {
    case missing = "is not there"
    case unreadable = "cannot be read"
    case open = "can be read by others"
    case writable = "can be written by any user"

    /// Returns nil if there is no problem.
    init?(_ path: String) {
        guard access(path, R_OK) == 0 else {
            self = errno == ENOENT ? .missing : .unreadable
            return
        }
        guard let status = FileStatus(of: path), status.grants(0o006) else { return nil }
        self = status.grants(0o002) ? .writable : .open
    }
}

extension Identity {
    /// The file that proves the identity.
    fileprivate var proofFile: String? {
        switch application?.proof {
        case .certificate(let path, _): path
        case .assertion(let source) where source.hasPrefix("file:"),
            .subject(let source, _) where source.hasPrefix("file:"):
            String(source.dropFirst(5))
        default: nil
        }
    }
}
