import Addresses
import Claims
import CredentialEngine
import Files
import PluginHost
import PluginWire
import Rules
import Secrets
import SettingsFile
import Terminal
import TokenAcquisition
import TokenStore
import Tools

// The texts for people of what the targets below throw. A command's own errors are beside it. Texts from elsewhere are made
// displayable here.

extension Failure.Cause {
    /// The cause if the user gave no answer: a refusal, or a signal such as Ctrl-C's.
    static var ofNoAnswer: Failure.Cause { Interrupts.signal == nil ? .cancellation : .interruption }
}

extension Failure {
    /// Creates the error for lanyard's own configuration.
    init(ofConfiguration error: SettingsError) {
        let page = error.lacksPermission ? [] : [Hint("what may stand there", run: "man 5 lanyard-config")]
        self.init(error.description, hints: error.hints.isEmpty ? page : error.hints)
    }

    /// Creates the error for the engine's refusal.
    init(_ refusal: Refusal, in context: CommandContext) {
        switch refusal {
        case .noPlace(let part):
            let name = part == .host ? "host" : "protocol"
            self.init("the request names no \(name)", hints: [Self.protocolHint])
        case .settings(let error): self = error as? Failure ?? Failure("\(error)".displayable(limit: 300))
        case .unresolved(let error): self.init(error, in: context)
        case .noToken(let error, let request, let place): self.init(error, request: request, url: place, in: context)
        case .severalParts(let names, let place):
            self.init(
                "the credential for \(place ?? "the host") has several parts: \(names.joined(separator: ", "))",
                hints: ["only tools that expect several parts can use it; see lanyard-consumers(7)"])
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

    /// Creates the error for a consumer's complaint; `refusal` is the engine's last one.
    init(_ complaint: Turn.Complaint, _ refusal: Refusal?, in context: CommandContext) {
        switch complaint {
        case .refusal: self = refusal.map { Failure($0, in: context) } ?? Failure("the request can't be answered")
        case .unreadable(let error): self.init(error)
        case .invalid(.invalid(let key)):
            self.init("the request's `\(key.displayable(limit: 60))` is not valid", hints: [Self.protocolHint])
        case .unwritable(let request):
            self.init("what is stored for \(request.url) cannot be written in the tool's format")
        case .other(let message, let remedy):
            self.init(message, hints: [remedy].compactMap(\.self).map { Hint($0) })
        }
    }

    /// Creates the error for a request that can't be read.
    private init(_ error: ProtocolError) {
        let reason =
            switch error {
            case .malformedLine: "a line is not of the form key=value"
            case .forbiddenByte: "a value holds a NUL byte or a carriage return"
            case .lineTooLong: "a line has more than \(AttributeParser.longestLine) bytes"
            case .inputTooLong: "it is longer than 1 MiB"
            case .notUTF8: "it is not UTF-8"
            }
        self.init("the request cannot be read: \(reason)", hints: [Self.protocolHint])
    }

    static let protocolHint: Hint = "lanyard expects git's credential format; see git help credential"

    /// Creates the error for a request whose token isn't available.
    init(_ error: ResolutionError, in context: CommandContext) {
        self.init(unresolved: error, in: context)
        guard let authority = error.authority else { return }
        self = withUnreadable(context.registry.match(authority: authority, isConfigured: true), context.registry)
    }

    /// Returns the failure with the plugins that can't be read, if one of them may be the one for an authority that no
    /// other names.
    private func withUnreadable(_ match: AuthorityMatch?, _ registry: PluginRegistry) -> Failure {
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
                "the rule for \(rule.pattern.text.displayable(limit: 200)) has an unknown key: \(key.displayable(limit: 60))",
                hints: [
                    Hint("edit \(place); a later lanyard may know it"), Hint("see the keys", run: "man lanyard-config"),
                ])
        case .noAuthority:
            self.init(
                "no authority is configured, and the request names none",
                hints: [Hint("say where you sign in", run: "lanyard config set authority \(Example.wideAuthority)")])
        case .notMapped(let host, let scope):
            self.init(
                "\(host.displayable(limit: 255)) is not mapped to the resource of \(scope.displayable(limit: 255))",
                hints: [
                    "a token is sent only to hosts that a [[rule]] or a plugin maps to its resource; see lanyard-config(5)"
                ])
        case .noClientID(let authority):
            self.init(
                "no client ID is configured for \(authority.displayable(limit: 255))",
                hints: Self.clients(authority, context))
        case .unencrypted(let scheme, let url):
            self.init("\(url): \(Self.unencrypted(scheme))", hints: [.overHTTPS(url)])
        case .noTenants(let authority):
            self.init("\(authority.displayable(limit: 255)) is not an authority with tenants")
        case .noScopes(let authority):
            guard let match = context.registry.match(authority: authority, isConfigured: true) else {
                self.init(
                    unknownAuthority: authority, in: PluginRegistry(plugins: []),
                    hints: [.correcting(authority: authority, context)])
                return
            }
            let twin = context.registry.lookAlike(of: match.authority.host).map { Hint("did you mean \($0)?") }
            self.init(
                "the rule names no scopes, and no plugin knows which \(authority.displayable(limit: 255)) wants",
                hints: [twin, Hint("name them in the rule", write: "scopes = [\"…\"]")].compactMap(\.self))
        case .unknownExchange(let name, let authority):
            let plugin =
                authority == Identity.machineAuthority
                ? "no plugin has an" : "the plugin for \(authority.displayable(limit: 255)) has no"
            self.init(
                "\(plugin) exchange \(name.displayable(limit: 64))",
                hints: [Hint("see which there are", run: "lanyard plugin list")])
        case .unknownClient(let text, let names, let nearest, _):
            let known = names.isEmpty ? "" : ", or the name of a client: \(names.joined(separator: ", "))"
            self.init(
                "\(text.displayable(limit: 60)) is not a client ID",
                hints: [
                    nearest.map { "did you mean \($0)?" } ?? "it is a GUID, shown by the app's registration\(known)"
                ])
        case .forbiddenClient(let name):
            self.init(
                "the client \(name) is forbidden by \(Configuration.systemFile)",
                hints: ["use your organisation's app: ask the administrator of this machine for its client ID"])
        case .unknownIdentity(let name, let names):
            self.init(
                "there is no identity \(name.displayable(limit: 64))",
                hints: [
                    names.nearest(to: name.lowercased()).map { Hint("did you mean \($0)?") }
                        ?? Hint("the identities are \(names.joined(separator: ", "))"),
                    Hint("add one", run: "lanyard identity add NAME"),
                ])
        case .noIdentityInEnvironment(let known, let present): self.init(noIdentityAmong: known, present: present)
        case .invalidVariable(let name, let form):
            self.init(
                "\(name) must be \(form)".displayable(limit: 500),
                hints: [Hint("correct \(name.displayable(limit: 300)), or unset it")])
        case .refusedIdentity(let reason):
            self.init(reason.displayable(limit: 500), hints: ["or name another identity"])
        case .badParameter(let error): self.init(error.reason, hints: [Hint(error.hint)])
        case .badClaims(let error): self.init(error)
        case .badChallenge(let host, let error): self.init(challengeOf: host, error)
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
        let others = match?.clients.first { configuration.allows(client: $0.name) }
            .map { Hint.clientForEverybody(write: "client-id = \"\($0.name)\"") }
        return [match?.registrationHint, own, others].compactMap(\.self)
    }

    /// Creates the error for a keyring that doesn't work.
    init(_ error: StoreError) {
        let (message, hints) = Self.keyring(error)
        let detail = error.detail.isEmpty ? "" : " (\(error.detail.displayable(limit: 200)))"
        let shown = [.broken, .badBackend].contains(error.reason) ? message + detail : message
        self.init(shown, hints: hints, cause: error.opensWithPassword ? .lockedKeyring : .keyring)
    }

    private static func keyring(_ error: StoreError) -> (message: String, hints: [Hint]) {
        if let bus = error.otherBus {
            return ("gnome-keyring runs on another session bus, so none starts on this one", [.using(bus: bus)])
        }
        // Without a name, it is most likely the one that lanyard can unlock.
        let service = error.provider.map(KeyringService.init(program:)) ?? .gnomeKeyring
        switch error.reason {
        case .locked: return locked(error.lock, by: service)
        case .noSessionBus: return ("there is no D-Bus session, so no keyring can be reached", [.findingBus])
        case .noProvider: return ("no keyring service is installed or running", [.gettingKeyringService])
        case .noDefaultCollection:
            let (message, hint) = service.lackingKeyring
            return (message, [hint])
        default: return keyring(otherwise: error)
        }
    }

    private static func locked(_ lock: StoreError.Lock?, by service: KeyringService) -> (String, [Hint]) {
        switch lock {
        case .keyrings(let labels):
            let names = labels.map { $0.displayable(limit: 100) }.joined(separator: ", ")
            let manager = Hint("unlock it", run: "seahorse")
            let hint =
                if case .gnomeKeyring = service { manager } else { Hint("unlock it in \(service.name)'s window") }
            return ("another keyring is locked: \(names)", [hint])
        case .items:
            return (
                "\(service.name) asks before each access, and can ask nobody here",
                ["for scripts, turn that off in \(service.name)'s settings, Secret Service Integration"]
            )
        case nil: return ("the keyring is locked", [service.unlocking])
        }
    }

    private static func keyring(otherwise error: StoreError) -> (message: String, hints: [Hint]) {
        switch error.reason {
        case .timedOut: ("the keyring service does not answer", [.restartingKeyring(of: error.provider)])
        case .busy: ("the keyring service is busy", ["try again in a moment"])
        case .damaging:
            (
                "the keyring has no password, and gnome-keyring would damage this secret in it",
                [Hint("give the keyring a password", run: "seahorse")]
            )
        case .denied: ("the keyring service refused", ["answer its prompt, or try again"])
        case .noLibrary:
            ("libsecret, or a library it needs, is not installed", [Package.libsecret.hint()])
        case .badBackend: ("SECRET_BACKEND does not name a backend", [Hint(run: "unset SECRET_BACKEND")])
        default: ("the keyring service failed", ["try again; if that doesn't help, restart the keyring service"])
        }
    }

    /// Creates the error for a token that couldn't be acquired.
    init(_ error: AcquisitionError, request: TokenRequest, url: String?, in context: CommandContext) {
        self.init(tokenless: error, request: request, url: url, in: context)
        if case .store = error { return }
        let registry = context.registry
        self = withUnreadable(registry.match(request), registry)
    }

    private init(
        tokenless error: AcquisitionError, request: TokenRequest, url: String?, in context: CommandContext
    ) {
        switch error {
        case .unknownAuthority(Identity.machineAuthority):
            self.init(
                "no plugin supports managed identities",
                hints: [Hint("see which plugins there are", run: "lanyard plugin list")])
        case .unknownAuthority(let authority):
            self.init(
                unknownAuthority: authority, in: PluginRegistry(plugins: []),
                hints: [.correcting(authority: authority, context)])
        case .ambiguousAccount(let accounts, let isShared):
            self.init(
                "several accounts could be meant: \(accounts.namesApart.joined(separator: ", "))",
                hints: Self.choosing(
                    accounts.namesToType.first ?? "ACCOUNT", isShared: isShared, request: request, url: url))
        case .noAccountChosen:
            self.init("no account was chosen", hints: [Hint("choose one", run: "lanyard use")], cause: .ofNoAnswer)
        case .noSuchAccount(let name, let known):
            let names = known.namesApart.joined(separator: ", ")
            self.init(
                "the account \(name.displayable(limit: 100)) has not signed in"
                    + (known.isEmpty ? "" : "; these have: \(names)"),
                hints: [Hint("sign in", run: Self.login(request.naming(name), url: url))],
                status: .interactionRequired)
        case .interactionRequired(let cause, let account):
            self.init(lackingInteraction: cause, of: account, request: request, url: url)
        case .wrongAccount(let wanted, let signedIn, let known):
            self.init(signedIn: signedIn, insteadOf: wanted, known: known, request: request, url: url)
        case .scopesDeclined(let granted, let declined):
            self.init(
                "declined: \(Self.list(declined)); granted: \(Self.list(granted))",
                hints: [
                    Hint("consent to all of it, or ask your administrator; then", run: Self.login(request, url: url))
                ],
                status: .scopesDeclined)
        case .noBroker:
            self.init(
                "no broker of this machine signs in here",
                hints: ["sign in with --flow auto, or set flow to auto in the configuration"])
        case .noUsableFlow(let flows, let client, let host):
            let all = flows.map(\.rawValue).joined(separator: ", ")
            if let client {
                self.init(
                    "the client \(client.displayable(limit: 100)) can't sign in here",
                    hints: [Hint("it may be used with \(all) only")])
            } else {
                self.init(
                    "\(host.displayable(limit: 255)) has none of the ways to sign in that can be used here",
                    hints: [Hint("it has \(all)")])
            }
        case .noClientSecret: self.init(noClientSecret: request)
        case .noIdentitySecret(let identity, let variable): self.init(unproven: identity, variable: variable)
        case .badVariable(let name):
            self.init(
                "\(name.displayable(limit: 300)) must be one line of at most 32 KiB, without control characters",
                hints: [Hint("correct \(name.displayable(limit: 300)), or unset it")])
        case .unusablePlugin(let problem, let name): self.init(name, unusable: problem)
        case .otherPlugin(let other): self.init(other, request: request, url: url)
        case .plugin(let error, let name): self.init(error, plugin: name, request: request, url: url, in: context)
        case .store(let error): self.init(error)
        case .busy(_, .signIn):
            self.init(
                "another lanyard is still signing in to \(request.authority.displayable(limit: 255))",
                hints: ["finish that sign-in, or cancel it, and try again"])
        case .busy(let process, _):
            let stopped = process.flatMap { LockHolder.isStopped($0) ? $0 : nil }
            self.init(
                "another lanyard\(process.map { " (pid \($0))" } ?? "") has not got the token from "
                    + "\(request.authority.displayable(limit: 255)) yet",
                hints: [
                    stopped.map {
                        Hint("it is stopped; to let it go on", run: ShellCommand(words: ["kill", "-CONT", String($0)]))
                    } ?? "try again"
                ])
        }
    }

    /// Creates the error for a plugin that can't be used.
    init(_ plugin: String, unusable problem: PluginProblem) {
        self.init(
            "the \(plugin.displayable(limit: 64)) plugin can't be used: \(problem)",
            hints: problem.hints.isEmpty ? [Hint("see lanyard-plugin(7)")] : problem.hints)
    }

    /// Creates the error for a sign-in that came from another plugin than the authority's.
    private init(_ other: OtherPlugin, request: TokenRequest, url: String?) {
        let account = other.account?.nameForPeople ?? "what is stored"
        let origin =
            other.origin.map { "the \($0.displayable(limit: 64)) plugin" } ?? "a plugin that ships with lanyard"
        var message = "\(account) signed in through \(origin)"
        if other.account == nil { message = "\(account) came from \(origin)" }
        if let problem = other.problem {
            message += ", which can't be used: \(problem)"
        } else if !other.isUsable {
            message += ", which is not installed"
        } else if let serving = other.serving {
            message += "; \(serving.displayable(limit: 64)), which serves the authority now, does not get its tokens"
        }
        var hints = other.problem?.hints ?? []
        if other.problem == nil, !other.isUsable {
            hints.append(
                other.origin == nil ? "install lanyard again" : "install that plugin again; see lanyard-plugin(7)")
        }
        if other.maySignIn, let serving = other.serving {
            let by = serving.displayable(limit: 64)
            hints.append(
                Hint("\(hints.isEmpty ? "" : "or ")to sign in again, through \(by)", run: Self.login(request, url: url))
            )
        } else if let account = other.account, let name = [account].namesToType.first {
            hints.append(Hint("or to forget that sign-in", run: "lanyard logout\(last: name)"))
        }
        self.init(message, hints: hints, status: other.maySignIn ? .interactionRequired : .failed)
    }

    private init(
        _ error: PluginError, plugin: String, request: TokenRequest, url: String?, in context: CommandContext
    ) {
        let message = Self.words(of: error)
        if let identity = request.identity {
            self.init(error, plugin: plugin, of: identity, in: context)
            return
        }
        var hints = error.hints
        if error.reasons.contains(.clientRefused) { hints += Self.hints(refusing: request, in: context) }
        switch error.code {
        case .interactionRequired:
            // The error ended a sign-in.
            if error.isAboutAccount { hints.append(Self.choosingAnother(than: nil, request, url: url)) }
            hints.append(Hint("to try again", run: Self.login(request, url: url, claims: error.claims)))
        case .throttled, .unavailable:
            if let wait = error.retryAfter { hints.append("try again in \(wait) seconds") }
            if hints.isEmpty {
                hints = ["check the network and the proxy settings, then try again; nothing stored was lost"]
            }
        case .cancelled:
            hints = [Hint("to try again", run: Self.login(request, url: url))]
            if error.isTimeout {
                hints.append(
                    Hint(
                        "for more time, set timeout in \(context.short(context.userFile)), or give",
                        write: "--timeout SECONDS")
                )
            }
        case .internal where hints.isEmpty:
            hints.append(Hint("see the conversation with the plugin \(plugin)", run: "export LANYARD_TRACE=plugin"))
        default: break
        }
        let status: ExitStatus =
            switch error.code {
            case .interactionRequired: .interactionRequired
            case .declinedScopes: .scopesDeclined
            default: .failed
            }
        self.init(message, hints: hints, status: status, cause: error.code == .cancelled ? .ofNoAnswer : .other)
    }

    /// Returns the plugin's message, with the ID of the request in the authority's logs.
    static func words(of error: PluginError) -> String {
        let message = error.message.displayable(limit: 800)
        guard let id = error.correlationID else { return message }
        let detail = "correlation ID \(id.displayable(limit: 64))"
        // If the message ends with the authority's error number in brackets, the ID goes into the same brackets.
        let isNumbered = error.errorCodes.contains { message.utf8.reversed().starts(with: "(\($0))".utf8.reversed()) }
        guard isNumbered else { return "\(message) (\(detail))" }
        return String(decoding: Array(message.utf8.dropLast()), as: UTF8.self) + ", \(detail))"
    }

    /// Returns the kind of interaction that the authority requires, if the plugin reports it.
    static func kind(of error: PluginError) -> String {
        let kinds: [(PluginError.Reason, String)] = [
            (.consent, "consent"), (.expiredPassword, "expired password"), (.proof, "further proof"),
            (.policy, "policy"),
        ]
        return kinds.first { error.reasons.contains($0.0) }.map { " (\($0.1))" } ?? ""
    }

    /// Returns hints for choosing one of several accounts; on a shared device, only signing out helps.
    private static func choosing(
        _ account: String, isShared: Bool, request: TokenRequest, url: String?
    ) -> [Hint] {
        [
            isShared
                ? Hint("sign the others out", run: "lanyard logout\(last: account)")
                : Hint("choose one", run: use(account, request, url: url)),
            "or name one with account in the rule, username@ in the URL, or --account",
        ]
    }

    /// Returns the hint for an account that a tenant doesn't accept.
    static func choosingAnother(than account: AccountRecord?, _ request: TokenRequest, url: String?) -> Hint {
        let whom = account.map { " than \($0.nameForPeople)" } ?? ""
        return Hint("to use another account here\(whom)", run: use("ACCOUNT", request, url: url))
    }

    /// Returns the command that selects an account for the request's authority.
    private static func use(_ account: String, _ request: TokenRequest, url: String?) -> ShellCommand {
        guard let url, !request.named.contains(.authority) else {
            return "lanyard use\(option: "--authority", request.authority, limit: 255)\(last: account)"
        }
        return "lanyard use\(last: account)\(last: request.typed(url))"
    }

    private static func list(_ scopes: [String]) -> String {
        scopes.isEmpty ? "nothing" : scopes.map { $0.displayable(limit: 200) }.joined(separator: " ")
    }

    /// Returns the command that signs in.
    ///
    /// It names the request's account, and asks for the request's claims or else those that the authority requires.
    /// Options for the sign-in are included if no rule can have them.
    static func login(_ request: TokenRequest, url: String?, claims: String? = nil) -> ShellCommand {
        let claims = claimsToAskFor(request.claims ?? claims)
        // What the URL's rule says needn't be repeated.
        func named(_ value: String, _ which: TokenRequest.Named) -> String? {
            url == nil || request.named.contains(which) ? value : nil
        }
        let authority = named(request.authority, .authority)
        let client = named(request.clientID, .clientID)
        let scopes: ShellCommand = request.scopes.reduce("") {
            "\($0)\(option: "--scope", named($1, .scopes), limit: 255)"
        }
        let shape: ShellCommand = url == nil ? signInOptions(request) : ""
        return """
            lanyard login\(last: request.typed(url))\(option: "--authority", authority, limit: 255)\
            \(option: "--client-id", client, limit: 255)\(scopes)\(shape)\
            \(option: "--account", request.account, limit: 100)\(option: "--claims", claims)
            """
    }

    /// Returns the options for the request's sign-in, each with a blank before it.
    private static func signInOptions(_ request: TokenRequest) -> ShellCommand {
        let given = SignInParameter.ofRules.flatMap { parameter in
            request.signIn.texts(of: parameter).map { (parameter.option, $0) }
        }
        return given.reduce("") { "\($0)\(option: $1.0, $1.1, limit: 300)" }
    }
}

extension TokenRequest {
    /// The user name in the URL of the rule that maps the request; nil if there is none.
    var usernameOfRule: String? {
        guard case .rule(let text) = origin else { return nil }
        return URLPattern(text)?.request.username
    }

    /// Returns a URL as it has to be typed for the same rule: with the user name that the rule's URL has.
    func typed(_ url: String?) -> String? {
        guard let user = usernameOfRule, let url, StrictURL(url)?.user == nil else { return url }
        return url.naming(user: user) ?? url
    }

    /// Returns the request for an account.
    func naming(_ account: String) -> TokenRequest {
        var request = self
        request.account = account
        return request
    }
}

extension PluginProblem {
    /// The remedies, which may quote the manifest.
    var hints: [Hint] {
        guard command.isEmpty else { return [Hint(hint?.displayable() ?? "run", run: ShellCommand(words: command))] }
        return [hint].compactMap(\.self).map { Hint($0.displayable()) }
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
    var registrationHint: Hint? { clientRegistration.map { Hint($0.displayable(limit: 512)) } }
}

extension PluginError {
    /// What the plugin says can be done about it, fit to show.
    var hints: [Hint] { hint.map { [Hint($0.displayable(limit: 500))] } ?? [] }
}
