import Addresses
import Claims
package import CredentialEngine
package import Files
import Glibc
package import JSON
import Keyring
package import Model
package import PluginHost
package import PluginWire
package import Rules
import Secrets
package import SettingsFile
import SystemPackage
package import Terminal
import TokenAcquisition
package import Tools

// The texts for users of what the targets below throw. A command's own errors are beside it. Texts from elsewhere are made
// displayable here.

extension CommandError.Cause {
    /// The cause if the user gave no answer: a refusal, or a signal such as Ctrl-C's.
    package static var ofNoAnswer: CommandError.Cause { Interrupts.signal == nil ? .cancellation : .interruption }
}

extension CommandError {
    /// Creates the error for lanyard's own configuration.
    package init(ofConfiguration error: SettingsError) {
        let page = error.lacksPermission ? [] : [Hint("what may stand there", run: "man 5 lanyard-config")]
        self.init(error.inFile, hints: error.hints.isEmpty ? page : error.hints)
    }

    /// Creates the error for the engine's refusal.
    package init(_ refusal: EngineError, in context: CommandContext) {
        switch refusal {
        case .noPlace(let part):
            let name = part == .host ? "host" : "protocol"
            self.init("the request names no \(name)", hints: [Self.protocolHint])
        case .settings(let error): self = error as? CommandError ?? CommandError("the settings can't be read")
        case .unresolved(let error): self.init(error, in: context)
        case .noToken(let error, let request, let place): self.init(error, request: request, url: place, in: context)
        case .severalParts(let names, let place):
            self.init(
                "the credential for \(place ?? "the host") has several parts: \(names.joined(separator: ", "))",
                hints: ["only tools that expect several parts can use it; see lanyard-tools(7)"])
        case .ownToken(let place):
            self.init(
                "that is a token of lanyard's own, which is not kept as a password",
                hints: [Hint("have lanyard give it", run: "lanyard rule add\(last: place ?? "URL")")])
        // In the words of Python's keyring, whose protocol is the only one that can ask for this.
        case .noPassword: self.init("No such password!")
        case .store(let error): self.init(error)
        case .agent(let problem, let socket): self.init(problem, at: context.short(socket), path: socket)
        case .forwarded(let refusal): self.init(refusal)
        case .keptElsewhere:
            self.init(
                "this machine uses an agent, which neither stores nor removes anything",
                hints: ["do it on the agent's machine"])
        case .notForwarded:
            self.init(
                "an agent gives tokens for URLs only", hints: [Hint("name a URL, as in", run: "lanyard token URL")])
        }
    }

    /// Creates the error for a tool's complaint; `refusal` is the engine's last one.
    package init(_ complaint: Turn.Complaint, _ refusal: CommandError?) {
        switch complaint {
        case .refusal: self = refusal ?? CommandError("the request can't be answered")
        case .unreadable(let error): self.init(error)
        case .unwritable(let request):
            self.init("what is stored for \(request.url) cannot be written in the tool's format")
        case .other(let message, let remedy):
            self.init(message, hints: [remedy].compactMap(\.self).map { Hint($0) })
        }
    }

    /// Creates the error for a request that can't be read.
    private init(_ error: ProtocolError) {
        let message =
            switch error {
            case .malformedLine: "request cannot be read: a line is not of the form key=value"
            case .forbiddenByte: "request cannot be read: a value holds a NUL byte or a carriage return"
            case .lineTooLong: "request cannot be read: a line has more than \(AttributeParser.longestLine) bytes"
            case .inputTooLong: "request cannot be read: it is longer than 1 MiB"
            case .notUTF8: "request cannot be read: it is not UTF-8"
            case .missing(let key), .invalid(let key), .unexpected(let key):
                "request's `\(key.displayable(limit: 60))` is not valid"
            }
        self.init("the \(message)", hints: [Self.protocolHint])
    }

    static let protocolHint: Hint = "lanyard expects git's credential format; see git help credential"

    /// Creates the error for a request whose token isn't available.
    package init(_ error: ResolutionError, in context: CommandContext) {
        self.init(unresolved: error, in: context)
        guard let authority = error.authority else { return }
        self = withUnreadable(context.registry.match(authority: authority, isConfigured: true), context.registry)
    }

    /// Returns the failure with the plugins that can't be read, if one of them may be the one for an authority that no
    /// other names.
    func withUnreadable(_ match: AuthorityMatch?, _ registry: PluginRegistry) -> CommandError {
        guard match?.isByWildcard ?? true else { return self }
        return registry.unreadableHints.reduce(self) { $0.with($1) }
    }

    private init(unresolved error: ResolutionError, in context: CommandContext) {
        switch error {
        case .incomplete:
            self.init(
                "a token needs both an authority and a scope",
                hints: [
                    Hint(
                        "give a URL that a rule maps, or name the token",
                        run: "lanyard token --authority URL --client-id ID --scope SCOPE")
                ])
        case .unreadableRule(let rule, let key):
            let place = rule.place(context)
            self.init(
                "the rule for \(rule.pattern.text) has an unknown key: \(key)",
                hints: [
                    Hint("edit \(place); a later lanyard may know it"), Hint("see the keys", run: "man lanyard-config"),
                ])
        case .noAuthority:
            self.init(
                "no authority is configured, and the request names none",
                hints: [Hint("say where you sign in", run: "lanyard config set authority \(Example.wideAuthority)")])
        case .notMapped(let host, let scope):
            self.init(
                "\(host) is not mapped to the resource of \(scope)",
                hints: [
                    "a token is sent only to hosts that a [[rule]] or a plugin maps to its resource; see lanyard-config(5)"
                ])
        case .hasSource(let source, let host):
            self.init(
                "the rule for \(host) looks the credential up in \(PluginRegistry.parts(ofSource: source).name), so nothing else can be asked for",
                hints: ["leave out the options that describe a token"])
        case .noClientID(let authority):
            self.init(
                "no client ID is configured for \(authority)",
                hints: Self.clients(authority, context))
        case .unencrypted(let scheme, let url):
            self.init("\(url): \(Self.unencrypted(scheme))", hints: [.overHTTPS(url)])
        case .noTenants(let authority):
            self.init("\(authority) is not an authority with tenants")
        case .noScopes(let authority, let kind):
            if let kind, !context.registry.kinds.contains(kind) {
                self.init(unknownKind: kind, context.registry)
                return
            }
            guard let match = context.registry.match(authority: authority, isConfigured: true) else {
                self.init(
                    unknownAuthority: authority, in: PluginRegistry(plugins: []),
                    hints: [.correcting(authority: authority, context)])
                return
            }
            let twin = context.registry.lookAlike(of: match.authority.host).map { Hint("did you mean \($0)?") }
            self.init(
                "the rule names no scopes, and no plugin knows which \(authority) wants",
                hints: [twin, Hint("name them in the rule", write: "scopes = [\"…\"]")].compactMap(\.self))
        case .unknownExchange(let name, let authority):
            let plugin =
                Identity.isMachine(authority: authority)
                ? "no plugin has an" : "the plugin for \(authority.displayable(limit: 255)) has no"
            self.init(
                "\(plugin) exchange \(name)",
                hints: [Hint("see which there are", run: "lanyard plugin list")])
        case .unknownExchangeParameter(let name, let exchange, let known):
            self.init(
                "the exchange \(exchange) has no parameter \(name)",
                hints: [
                    known.nearest(to: name).map { Hint("did you mean \($0)?") }
                        ?? Hint(known.isEmpty ? "it has none" : "it has \(known.joined(separator: ", "))")
                ])
        case .onlyForExchanges(let plugin, let host, let exchanges):
            let names = exchanges.joined(separator: ", ")
            guard let host else {
                self.init(
                    "tokens of the plugin \(plugin) are only for exchanges",
                    hints: [Hint("name a URL that a rule exchanges them for")])
                return
            }
            self.init(
                "tokens of the plugin \(plugin) are only for exchanges, and there is none for \(host)",
                hints: [
                    Hint(
                        "if that is another name of a service, write into the rule which of these it needs: \(names)",
                        write: "exchange = \"\(exchanges.first ?? "NAME")\""),
                    Hint("otherwise, remove the rule", run: "lanyard rule remove \("https://\(host)")"),
                ])
        case .unknownClient(let text, let names, let nearest, _):
            let known: Hint =
                names.isEmpty
                ? "the app's registration shows it"
                : "it is a GUID, shown by the app's registration, or the name of an app: \(names.joined(separator: ", "))"
            self.init("\(text) is not a client ID", hints: [nearest.map { "did you mean \($0)?" } ?? known])
        case .forbiddenClient(let name):
            self.init(
                "the app \(name) is forbidden by \(Configuration.systemFile)",
                hints: ["use your organisation's app: ask the administrator of this machine for its client ID"])
        case .unknownIdentity(let name, let names):
            self.init(
                "there is no identity \(name)",
                hints: [
                    names.nearest(to: name.lowercased()).map { Hint("did you mean \($0)?") }
                        ?? Hint("the identities are \(names.joined(separator: ", "))"),
                    Hint("add one", run: "lanyard identity add NAME"),
                ])
        case .noIdentityInEnvironment(let known, let present): self.init(noIdentityAmong: known, present: present)
        case .invalidVariable(let name, let form):
            self.init(
                "\(name) must be \(form)",
                hints: [Hint("correct \(name), or unset it")])
        case .refusedIdentity(let reason):
            self.init("\(reason)", hints: ["or name another identity"])
        case .badParameter(let error): self.init("\(error.reason)", hints: ["\(error.hint)"])
        case .badClaims(let error): self.init(error)
        case .badChallenge(let host, let error): self.init(challengeOf: host, error)
        case .idTokenWithoutRule(let host):
            self.init(
                "an ID token is only for hosts that a rule names, and none names \(host)",
                hints: [Hint("add one", run: "lanyard rule add \("https://\(host)") --token id")])
        case .noIDTokens(let authority):
            self.init(
                "\(authority) has no ID tokens, and no claims to ask for",
                hints: [
                    Hint("leave out --id-token, --token id and --claim, and in the rule", write: "token = \"id\""),
                    "name an issuer of OpenID Connect that the host trusts",
                ])
        case .idTokenOfIdentity(let name):
            self.init(
                "the identity \(name) has no ID token: nobody signs in",
                hints: [Hint("to sign in as a user, name the account", write: "--account ACCOUNT")])
        case .badScope:
            self.init(
                "a scope cannot contain spaces, quotes or control characters", hints: ["give each scope separately"])
        }
    }

    /// Returns how to get a client ID: from an organisation's app, or from a client that needs no app if the authority
    /// has one and no policy forbids it.
    private static func clients(_ authority: String, _ context: CommandContext) -> [Hint] {
        let registry = context.registry
        let configuration = (try? Configuration.load(environment: context.environment)) ?? Configuration()
        let match = registry.match(authority: authority, isConfigured: true)
        let own = Hint("put the app's client ID into \(context.short(context.userFile))", write: "client-id = \"…\"")
        let other = match?.clients.first { configuration.allows(client: $0.name) }
        guard let match, let other else { return [match?.registrationHint, own].compactMap(\.self) }
        return [match.registrationHint, own, .clientForEverybody(at: match, write: "client-id = \"\(other.name)\"")]
            .compactMap(\.self)
    }

    /// Creates the error for invalid claims.
    init(_ error: ParameterError, status: ExitStatus = .failed) {
        self.init(
            "the claims request is not valid: \(error.reason)", hints: ["\(error.hint)"], status: status)
    }

    /// Creates the error for a server's challenge with invalid claims.
    init(challengeOf host: String, _ error: ParameterError) {
        self.init(
            "\(host) asks for claims that are not valid: \(error.reason)",
            hints: [Hint("tell its administrator, or name the claims yourself", run: "lanyard login --claims JSON")])
    }

    /// Returns the claims if they can be shown completely; nil if not, or if there are none.
    static func claimsToAskFor(_ claims: String?) -> String? {
        guard let claims, claims == claims.displayable(limit: 500), (try? ClaimsRequest(claims)) != nil else {
            return nil
        }
        return claims
    }

    /// Creates the error for an identity whose proof is missing.
    package init(unproven identity: Identity, variable: String?) {
        if let variable {
            self.init(
                "the variable \(variable) is not set, and the identity \(identity.name) needs it",
                hints: ["set it to the secret, where only this process can read it"])
        } else {
            self.init(
                "no secret is stored for the identity \(identity.name)",
                hints: [Hint("store it", run: "lanyard identity secret \(identity.name)")])
        }
    }

    /// Creates the error for an attempt to sign in with an identity, which isn't a user.
    package init(noSignInFor identity: Identity, url: String?) {
        let name = identity.name.displayable(limit: 64)
        self.init(
            "the identity \(name) needs no sign-in",
            hints: [
                Hint("to see whether it gets a token", run: "lanyard identity check \(name)\(last: url)"),
                Hint("to sign in as a user, name the account", write: "--account ACCOUNT"),
            ], status: .usage)
    }

    /// Creates the error for a plugin that got no token for an identity; signing in doesn't help, whatever the
    /// authority says.
    package init(_ error: PluginError, plugin: String, of identity: Identity, in context: CommandContext) {
        var hints = error.hints
        if error.reasons.contains(.clientRefused), let id = identity.application?.clientID.displayable(limit: 100) {
            hints.append(Hint("check the client ID \(id), and what proves it: \(identity.displayedProof)"))
            if identity.isKeptInKeyring {
                hints.append(Hint("to store the current one", run: "lanyard identity secret \(identity.name)"))
            }
        }
        let service = PipelineService(context.environment)
        if let advice = service?.advice(on: identity, context.environment) { hints.append("\(advice)") }
        if case .machine = identity.source, !identity.lackingVariables.isEmpty {
            let lacking = identity.lackingVariables.joined(separator: " or ")
            hints.append(Hint("the variables describe an application if \(lacking) is set, too"))
        }
        if let wait = error.retryAfter { hints.append("try again in \(wait) seconds") }
        if error.code == .internal, hints.isEmpty {
            hints.append(Hint("see the conversation with the plugin \(plugin)", run: "export LANYARD_TRACE=plugin"))
        }
        if hints.isEmpty, [.throttled, .unavailable].contains(error.code) {
            hints.append("check the network and the proxy settings, then try again")
        }
        if hints.isEmpty {
            let place = identity.file.isEmpty ? "" : ", at \(identity.place(context))"
            hints.append(Hint("see what the identity \(identity.name) is\(place)", run: "lanyard identity list"))
        }
        let unset = identity.unsetVariables
        let reason: Message =
            unset.isEmpty
            ? ""
            : "\(unset.joined(separator: " and ")) \(unset.count == 1 ? "is" : "are") not set, so the machine's own "
                + "identity was tried: "
        self.init(reason + Self.words(of: error), hints: hints)
    }

    /// Creates the error for variables that describe no identity: which ones are set, and which are missing.
    package init(noIdentityAmong known: [[String]], present: [String]) {
        let nearest = known.filter { !Set($0).isDisjoint(with: present) }
            .min { $0.count { !present.contains($0) } < $1.count { !present.contains($0) } }
        if let nearest {
            let missing = nearest.filter { !present.contains($0) }
            self.init(
                "the variables describe no identity: \(missing.joined(separator: " and ")) missing, required with "
                    + "\(nearest.filter(present.contains).joined(separator: " and "))",
                hints: ["set what is missing, or name another identity"])
        } else {
            self.init(
                "the variables describe no identity",
                hints: known.map { Hint("set \($0.joined(separator: ", "))") }
                    + [known.isEmpty ? "name another identity" : "or name another identity"])
        }
    }
}

extension PluginRegistry {
    /// For errors of authorities that no plugin names: the plugins that might, but can't be read.
    var unreadableHints: [Hint] {
        guard !unreadable.isEmpty else { return [] }
        let names = unreadable.map { problem in
            problem.plugin.map { "\($0.displayable(limit: 64)) (\(problem))" } ?? "\(problem)"
        }
        return [Hint("plugins that can't be used: \(names.joined(separator: "; "))")]
    }
}

extension PluginManifest {
    /// A hint about where to find or register an organisation's app; nil if the plugin has none.
    package var registrationHint: Hint? { clientRegistration.map { "\($0, limit: 512)" } }
}

extension PluginError {
    /// What the plugin says can be done about it.
    package var hints: [Hint] { hint.map { ["\($0)"] } ?? [] }
}

extension Console {
    /// Writes a result for programs to stdout.
    package func print(json value: JSONValue) { print(value.encoded(pretty: true)) }
}

extension FileError {
    /// Returns what to do if a file in a folder can't be written; `listing` shows who may.
    package func hint(_ listing: ShellCommand, in folder: String) -> Hint {
        let folder = sequence(first: folder, next: FileTrust.parent).first { $0 == "/" || access($0, F_OK) == 0 } ?? "/"
        return switch self {
        case .refused(Errno(rawValue: ENOSPC)), .refused(Errno(rawValue: EDQUOT)):
            Hint("make room there", run: "df -h\(last: folder)")
        case .refused(Errno(rawValue: EROFS)): Hint("see what is mounted there", run: "findmnt -T\(last: folder)")
        default: Hint("see who owns it", run: listing)
        }
    }
}
