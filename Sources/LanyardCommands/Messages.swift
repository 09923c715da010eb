import AuthorityPlugin
import CredentialProtocol
import Rules
import SettingsFile
import TokenAcquisition
import TokenStore

// Every error's text for people, in one place. Texts from elsewhere are made displayable here.

extension Failure {
    /// A wrong file.
    init(_ error: SettingsError) {
        self.init(error.description, hints: [error.hint].compactMap(\.self))
    }

    /// A request that can't be read.
    init(_ error: ProtocolError) {
        let reason =
            switch error {
            case .malformedLine: "a line is not of the form key=value"
            case .forbiddenByte: "a value holds a NUL byte, or a carriage return at its end"
            case .lineTooLong: "a line has more than \(AttributeParser.longestLine) bytes"
            case .inputTooLong: "it is longer than 1 MiB"
            case .notUTF8: "it is not UTF-8"
            }
        self.init("the request cannot be read: \(reason)", hints: [Self.protocolHint])
    }

    /// A request with a value that its key can't have.
    init(_ error: RequestError) {
        switch error {
        case .invalid(let key):
            self.init("the request's `\(key.displayable(limit: 60))` is not valid", hints: [Self.protocolHint])
        }
    }

    static let protocolHint = "lanyard expects git's credential format; see git help credential"

    /// A request that needs a token which can't be had.
    init(_ error: ResolutionError) {
        switch error {
        case .incomplete:
            self.init(
                "a token needs both an authority and a scope",
                hints: ["name them: lanyard token --authority URL --scope SCOPE, or give a URL that a rule maps"])
        case .notMapped(let host, let scope):
            self.init(
                "\(host.displayable(limit: 255)) is not mapped to the resource of \(scope.displayable(limit: 255))",
                hints: [
                    "a token goes only to hosts that a [[rule]] or a plugin maps to its resource; see lanyard-config(5)"
                ])
        case .noClientID(let authority):
            self.init(
                "no client id is configured for \(authority.displayable(limit: 255))",
                hints: [
                    "register an app in the Entra admin centre: App registrations, New registration, platform \"Mobile and desktop applications\" with redirect URI http://localhost, and allow public client flows",
                    "then put its application (client) id as client-id = \"…\" into \(Self.userFile)",
                ])
        case .badParameter(let error): self.init(error.reason, hints: [error.hint])
        case .badClaims(let error): self.init(error)
        case .badChallenge(let host, let error): self.init(challengeOf: host, error)
        case .badScope:
            self.init("a scope holds no space, quote or control character", hints: ["give each scope on its own"])
        }
    }

    /// A keyring that doesn't work.
    init(_ error: StoreError) {
        let (message, hint) = Self.keyring(error.reason)
        let detail = error.detail.isEmpty ? "" : " (\(error.detail.displayable(limit: 200)))"
        let shown = [.broken, .badBackend].contains(error.reason) ? message + detail : message
        self.init(shown, hints: [hint], cause: .keyring)
    }

    /// Takes the password without its line's end, which would count as a part of it.
    private static let unlocking =
        "sh -c 'stty -echo; read -r p; stty echo; printf %s \"$p\"' | gnome-keyring-daemon --replace --unlock"

    private static func keyring(_ reason: StoreError.Reason) -> (message: String, hint: String) {
        switch reason {
        case .locked:
            ("the keyring is locked", "type its password after this, to unlock it: \(unlocking)")
        case .noSessionBus:
            (
                "there is no D-Bus session, so no keyring can be reached",
                "where you are logged in: export XDG_RUNTIME_DIR=/run/user/$(id -u); else start one: "
                    + "dbus-run-session -- bash"
            )
        case .noProvider:
            ("no keyring service is installed or running", "install one: sudo apt install gnome-keyring")
        case .noDefaultCollection:
            ("there is no default keyring yet", "type its new password after this, to make one: \(unlocking)")
        case .timedOut:
            ("the keyring service does not answer", "restart it: pkill gnome-keyring-d, then try again")
        case .denied: ("the keyring service refused", "answer its prompt, or try again")
        case .noLibrary:
            ("libsecret, or a library it needs, is not installed", "install it: sudo apt install libsecret-1-0")
        case .badBackend: ("SECRET_BACKEND names no backend", "unset SECRET_BACKEND")
        case .broken: ("the keyring service failed", "try again; if it stays so, restart the keyring service")
        }
    }

    /// A token that couldn't be got.
    init(_ error: AcquisitionError, request: TokenRequest, url: String?) {
        switch error {
        case .unknownAuthority(let authority):
            self.init(
                unknownAuthority: authority,
                hints: ["name it in a [[rule]] in \(Self.userFile), or install its plugin; see lanyard-plugin(7)"])
        case .ambiguousAccount(let accounts, let isShared):
            self.init(
                "several accounts could be meant: \(accounts.namesApart.joined(separator: ", "))",
                hints: Self.choosing(accounts.namesToType.first ?? "ACCOUNT", isShared: isShared))
        case .noAccountChosen:
            self.init("no account was chosen", hints: ["choose one: lanyard use"], cause: .ofNoAnswer)
        case .noSuchAccount(let name, let known):
            let names = known.namesApart.joined(separator: ", ")
            self.init(
                "the account \(name.displayable(limit: 100)) has not signed in"
                    + (known.isEmpty ? "" : "; these have: \(names)"),
                hints: ["sign in: \(Self.login(request.naming(name), url: url))"],
                status: .interactionRequired)
        case .interactionRequired(let cause, let account):
            self.init(lackingInteraction: cause, of: account, request: request, url: url)
        case .wrongAccount(let wanted, let signedIn):
            self.init(signedIn: signedIn, insteadOf: wanted, request: request, url: url)
        case .scopesDeclined(let granted, let declined):
            self.init(
                "declined: \(Self.list(declined)); granted: \(Self.list(granted))",
                hints: ["consent to all of it, or ask your administrator; then: \(Self.login(request, url: url))"],
                status: .scopesDeclined)
        case .plugin(let error, let name): self.init(error, plugin: name, request: request, url: url)
        case .store(let error): self.init(error)
        case .busy:
            self.init(
                "another lanyard is still signing in to \(request.authority.displayable(limit: 255))",
                hints: ["finish that sign-in, or end it, and try again"])
        }
    }

    private init(_ error: PluginError, plugin: String, request: TokenRequest, url: String?) {
        let message = Self.words(of: error)
        var hints = [error.hint?.displayable(limit: 500)].compactMap(\.self)
        switch error.code {
        case .interactionRequired:
            // It was a sign-in that ended so.
            hints.append("to try again: \(Self.login(request, url: url, claims: error.claims))")
        case .throttled, .unavailable:
            if let wait = error.retryAfter { hints.append("try again in \(wait) seconds") }
            if hints.isEmpty {
                hints = ["check the network and the proxy settings, then try again; nothing stored was lost"]
            }
        case .cancelled:
            hints = ["to try again: \(Self.login(request, url: url))"]
            if error.isTimeout { hints.append("for more time: --timeout SECONDS, or timeout = … in \(Self.userFile)") }
        case .internal where hints.isEmpty:
            hints.append("see the conversation with the plugin \(plugin): LANYARD_TRACE=plugin")
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

    /// What a plugin says, with what names the request in the authority's logs.
    static func words(of error: PluginError) -> String {
        let message = error.message.displayable(limit: 800)
        return error.correlationID.map { "\(message) (correlation id \($0.displayable(limit: 64)))" } ?? message
    }

    /// What kind of interaction the authority wants, as far as it tells (MSAL's classification).
    static func kind(of error: PluginError) -> String {
        switch error.interaction {
        case .consentRequired: " (consent)"
        case .userPasswordExpired: " (expired password)"
        case .basicAction, .additionalAction: " (further proof)"
        case .messageOnly: " (policy)"
        case nil: ""
        }
    }

    private static var userFile: String {
        let context = CommandContext.current
        return context.short(
            Configuration.userFile(environment: context.environment) ?? "~/.config/lanyard/config.toml")
    }

    /// What settles which account is meant; on a shared device no choice does.
    private static func choosing(_ account: String, isShared: Bool) -> [String] {
        let names = "or name one: account = \"…\" in the rule, username@ in the URL, or --account"
        let account = ShellWords.quote(account)
        return [
            isShared ? "sign the others out: lanyard logout \(account)" : "choose one: lanyard use \(account)", names,
        ]
    }

    private static func list(_ scopes: [String]) -> String {
        scopes.isEmpty ? "nothing" : scopes.map { $0.displayable(limit: 200) }.joined(separator: " ")
    }

    /// A text as one word of a command to run.
    static func word(_ text: String, limit: Int) -> String { ShellWords.quote(text.displayable(limit: limit)) }

    /// The command that would sign in.
    ///
    /// It names the request's account, and asks for the request's claims, else for those that the authority wants; what
    /// shapes the sign-in comes along where no rule can bring it.
    static func login(_ request: TokenRequest, url: String?, claims: String? = nil) -> String {
        let claims = claimsOption(request.claims ?? claims)
        let account = request.account.map { " --account \(word($0, limit: 100))" } ?? ""
        let place = url.map { " \(word($0, limit: 500))" } ?? ""
        // What a URL's rule says need not be said again.
        func option(_ name: String, _ value: String, _ which: TokenRequest.Named) -> String {
            url == nil || request.named.contains(which) ? " \(name) \(word(value, limit: 255))" : ""
        }
        let authority = option("--authority", request.authority, .authority)
        let client = option("--client-id", request.clientID, .clientID)
        let scopes = request.scopes.map { option("--scope", $0, .scopes) }.joined()
        let shape = url == nil ? signInOptions(request) : ""
        return "lanyard login\(place)\(authority)\(client)\(scopes)\(shape)\(account)\(claims)"
    }

    /// The options that shape the request's sign-in, each with a blank before it.
    private static func signInOptions(_ request: TokenRequest) -> String {
        var options = [
            ("--domain-hint", request.domainHint), ("--redirect-port", request.redirectPort.map { String($0) }),
            ("--reset-policy", request.resetPolicy),
        ]
        options += request.extraQuery.sorted { $0.key < $1.key }.map { ("--query-parameter", "\($0.key)=\($0.value)") }
        return options.map { option, value in value.map { " \(option) \(word($0, limit: 300))" } ?? "" }.joined()
    }
}

extension TokenRequest {
    /// The same for this account.
    fileprivate func naming(_ account: String) -> TokenRequest {
        var request = self
        request.account = account
        return request
    }
}
