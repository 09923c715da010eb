import Addresses
import Claims
import CredentialEngine
import Files
package import Keyring
package import Model
import PluginHost
package import PluginWire
import Rules
import Secrets
package import SettingsFile
package import Terminal
package import TokenAcquisition

// Errors of getting a token, above all those that only the user can resolve: which account, at which authority, and the
// authority's reason.

extension CommandError {
    /// Creates the error for a token that couldn't be acquired.
    package init(_ error: AcquisitionError, request: TokenRequest, url: String?, in context: CommandContext) {
        self.init(tokenless: error, request: request, url: url, in: context)
        if case .store = error { return }
        let registry = context.registry
        self = withUnreadable(registry.match(request), registry)
    }

    private init(
        tokenless error: AcquisitionError, request: TokenRequest, url: String?, in context: CommandContext
    ) {
        switch error {
        case .unknownAuthority(let authority) where Identity.isMachine(authority: authority):
            self.init(
                MachineIdentity.lack(ofPlugin: MachineIdentity.plugin(ofAuthority: authority) ?? ""),
                hints: [Hint("see which plugins there are", run: "lanyard plugin list")])
        case .unknownAuthority where request.kind.map(context.registry.kinds.contains) == false:
            self.init(unknownKind: request.kind ?? "", context.registry)
        case .unknownAuthority(let authority):
            self.init(
                unknownAuthority: authority, in: PluginRegistry(plugins: []),
                hints: [.correcting(authority: authority, context)])
        case .unknownSource(let name, let known):
            self.init(unknownSource: name, known)
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
                "the account \(name) has not signed in"
                    + (known.isEmpty ? "" : "; these have: \(names)"),
                hints: [Hint("sign in", run: Self.login(request.naming(name), url: url))],
                status: .interactionRequired)
        case .interactionRequired(let cause, let account):
            self.init(lackingInteraction: cause, of: account, request: request, url: url)
        case .wrongAccount(let wanted, let signedIn, let known):
            let match = context.registry.match(request)
            self.init(
                signedIn: signedIn, insteadOf: wanted, known: known, request: request, url: url,
                prompt: match?.plugin.supports.contains(.prompt) == true ? "select_account" : nil)
        case .scopesDeclined(let granted, let declined):
            self.init(
                "declined: \(Self.list(declined)); granted: \(Self.list(granted))",
                hints: [
                    Hint("consent to all of it, or ask your administrator; then", run: Self.login(request, url: url))
                ],
                status: .scopesDeclined)
        case .noIDToken(let host):
            self.init(
                "\(host) returned no ID token",
                hints: [Hint("if it is an issuer of OpenID Connect, name in the rule", write: "scopes = [\"openid\"]")])
        case .noBroker:
            self.init(
                "no broker of this machine signs in here",
                hints: ["sign in with --flow auto, or set flow to auto in the configuration"])
        case .noUsableFlow(let flows, let client, let host):
            let all = flows.map(\.rawValue).joined(separator: ", ")
            if let client {
                self.init(
                    "the app \(client) can't sign in here",
                    hints: [Hint("it may be used with \(all) only")])
            } else {
                self.init(
                    "\(host) has none of the ways to sign in that can be used here",
                    hints: [Hint("it has \(all)")])
            }
        case .needsPage(let support):
            let (what, hint) = support.refusal
            self.init(
                "a sign-in with a code can't \(what)", hints: ["\(hint)", "or sign in in a browser: --flow browser"])
        case .noClientSecret: self.init(noClientSecret: request)
        case .noIdentitySecret(let identity, let variable): self.init(unproven: identity, variable: variable)
        case .badVariable(let name):
            self.init(
                "\(name) must be one line of at most 32 KiB, without control characters",
                hints: [Hint("correct \(name), or unset it")])
        case .unusablePlugin(let problem, let name): self.init(name, unusable: problem)
        case .otherPlugin(let other): self.init(other, request: request, url: url)
        case .plugin(let error, let name): self.init(error, plugin: name, request: request, url: url, in: context)
        case .store(let error): self.init(error)
        case .busy(_, .signIn):
            self.init(
                "another lanyard is still signing in to \(request.authority)",
                hints: ["finish that sign-in, or cancel it, and try again"])
        case .busy(let process, _):
            let stopped = process.flatMap { LockHolder.isStopped($0) ? $0 : nil }
            self.init(
                "another lanyard\(process.map { " (pid \($0))" } ?? "") has not got the token from "
                    + "\(request.authority) yet",
                hints: [
                    stopped.map {
                        Hint("it is stopped; to let it go on", run: ShellCommand(words: ["kill", "-CONT", String($0)]))
                    } ?? "try again"
                ])
        }
    }

    /// Creates the error for a plugin that can't be used.
    package init(_ plugin: String, unusable problem: SettingsError) {
        self.init(
            "the \(plugin) plugin can't be used: \(problem)",
            hints: problem.hints.isEmpty ? [Hint("see lanyard-plugin(7)")] : problem.hints)
    }

    /// Creates the error for a sign-in that came from another plugin than the authority's.
    private init(_ other: OtherPlugin, request: TokenRequest, url: String?) {
        let account = other.account?.displayName ?? "what is stored"
        let origin: Message =
            other.origin.map { "the \($0) plugin" } ?? "a plugin that ships with lanyard"
        var message: Message = "\(account) signed in through \(origin)"
        if other.account == nil { message = "\(account) came from \(origin)" }
        if let problem = other.problem {
            message += ", which can't be used: \(problem)"
        } else if !other.isUsable {
            message += ", which is not installed"
        } else if let serving = other.serving {
            message += "; \(serving), which serves the authority now, does not get its tokens"
        }
        var hints = other.problem?.hints ?? []
        if other.problem == nil, !other.isUsable {
            hints.append(
                other.origin == nil ? "install lanyard again" : "install that plugin again; see lanyard-plugin(7)")
        }
        if other.maySignIn, let serving = other.serving {
            hints.append(
                Hint(
                    "\(hints.isEmpty ? "" : "or ")to sign in again, through \(serving)",
                    run: Self.login(request, url: url))
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
        case .interactionRequired where request.source == nil:
            // The error ended a sign-in.
            if error.isAboutAccount { hints.append(Self.choosingAnother(than: nil, request, url: url)) }
            hints.append(Hint("to try again", run: Self.login(request, url: url, claims: error.claims)))
        case .throttled, .unavailable:
            if let wait = error.retryAfter { hints.append("try again in \(wait) seconds") }
            if hints.isEmpty, request.source == nil {
                hints = ["check the network and the proxy settings, then try again; nothing stored was lost"]
            }
        case .cancelled where request.source == nil:
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
    package static func words(of error: PluginError) -> Message {
        let message: Message = "\(error.message, limit: 800)"
        guard let id = error.correlationID else { return message }
        let detail: Message = "correlation ID \(id)"
        // If the message ends with the authority's error number in brackets, the ID goes into the same brackets.
        let isNumbered = error.errorCodes.contains {
            message.text.utf8.reversed().starts(with: "(\($0))".utf8.reversed())
        }
        guard isNumbered else { return "\(message) (\(detail))" }
        return "\(message.text.dropLast(), limit: 800), \(detail))"
    }

    /// Returns the kind of interaction that the authority requires, if the plugin reports it.
    package static func kind(of error: PluginError) -> String {
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
    package static func choosingAnother(than account: AccountRecord?, _ request: TokenRequest, url: String?) -> Hint {
        let whom = account.map { " than \($0.displayName)" } ?? ""
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
    package static func login(_ request: TokenRequest, url: String?, claims: String? = nil) -> ShellCommand {
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

    /// Creates the error for a sign-in that needs a user when there is none; `cause` is the authority's answer if it
    /// was asked.
    package init(
        lackingInteraction cause: PluginError?, of account: AccountRecord?, request: TokenRequest, url: String?
    ) {
        let authority = request.authority.displayable(limit: 255)
        let why: String
        if let cause {
            let place = account.map { " \($0.displayName) at \(authority):" } ?? ""
            why = "\(Self.kind(of: cause)):\(place) \(Self.words(of: cause))"
        } else if let prompt = request.prompt, prompt != "none" {
            let who = account?.displayName ?? "the user"
            why = ": \(who) must be asked at \(authority) (prompt \(prompt))"
        } else if let account {
            // For example, the sign-in is another client's, or its refresh token was refused before.
            let client = request.clientID.displayable(limit: 100)
            why = ": \(account.displayName) has no sign-in to renew at \(authority) with the client ID \(client)"
        } else {
            let who = request.expectedAccount.map { "\($0.displayable(limit: 100)) has not" } ?? "nobody has"
            why = ": \(who) signed in to \(authority)"
        }
        var hints = cause?.hints ?? []
        if let account, cause?.isAboutAccount == true, request.expectedAccount == nil {
            hints.append(Self.choosingAnother(than: account, request, url: url))
        }
        self.init(
            "interaction required\(why)",
            hints: hints + [Hint("sign in", run: Self.login(request, url: url, claims: cause?.claims))],
            status: .interactionRequired)
    }

    /// Creates the error for `login` if there is no user.
    package init(nobodyToSignIn request: TokenRequest, url: String?) {
        self.init(
            "interaction required: nobody is there to sign in to \(request.authority)",
            hints: [Hint("see why", run: "lanyard doctor"), Hint("at a terminal", run: Self.login(request, url: url))],
            status: .interactionRequired)
    }

    /// Creates the error for a sign-in with another account than the named one; the sign-in is stored.
    package init(
        signedIn account: AccountRecord, insteadOf wanted: String, known: [AccountRecord], request: TokenRequest,
        url: String?, prompt: String?
    ) {
        let name = account.displayName
        let typed = known.distinctName(of: account)
        let again = Hint(
            "sign in again and pick it",
            run: "\(Self.login(request.naming(wanted), url: url))\(option: "--prompt", prompt)")
        let renamed =
            account.username.isAddress && wanted.isAddress
            ? Hint("if that account was renamed, write \(name) wherever you wrote \(wanted)")
            : nil
        self.init(
            "\(name) signed in instead of \(wanted)",
            hints: [
                again, Self.keeping(account, typed: typed, request, url: url),
                Hint("\(name) stays signed in; to sign it out", run: "lanyard logout\(last: typed, limit: 200)"),
                renamed,
            ].compactMap(\.self))
    }

    /// Returns how to continue with the account that signed in; at hosts with their own user names, it may be the one
    /// that was meant.
    ///
    /// A name in the URL takes precedence over any choice, so only another URL helps.
    private static func keeping(
        _ account: AccountRecord, typed: String, _ request: TokenRequest, url: String?
    ) -> Hint? {
        let isHostsOwn = account.hasUsername && !account.username.isAddress
        let host = account.environment.displayable(limit: 255)
        let calls = "if that is you, \(host) calls you \(account.displayName)"
        guard request.account == nil else {
            return Hint(isHostsOwn ? "\(calls); to use it" : "to use it", run: .using(account: typed))
        }
        // The rule is only for the name in its own URL.
        guard isHostsOwn, request.usernameOfRule == nil, let named = url?.naming(user: account.username) else {
            return nil
        }
        return Hint("\(calls); name that in the URL", write: named)
    }
}

extension TokenRequest {
    /// The user name in the URL of the rule that maps the request; nil if there is none.
    var usernameOfRule: String? {
        guard case .rule(let text) = origin else { return nil }
        return URLPattern(text)?.request.username
    }

    /// Returns a URL as it has to be typed for the same rule: with the user name that the rule's URL has.
    package func typed(_ url: String?) -> String? {
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

extension String {
    /// The URL with another user name, or with one; nil if it is none.
    func naming(user: String) -> String? {
        guard let url = StrictURL(self) else { return nil }
        return "\(url.scheme)://\(user.percentEncoded)@\(url.host.urlText)\(url.tail)"
    }
}

extension ShellCommand {
    /// Returns the command that selects an account, by a name that only this account has.
    package static func using(account name: String) -> ShellCommand { "lanyard use\(last: name, limit: 200)" }
}
