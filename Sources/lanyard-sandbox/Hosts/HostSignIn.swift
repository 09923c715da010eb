import FoundationEssentials
import Hummingbird
import JSON

/// A host's authorization endpoint: each submitted page continues an interaction.
extension HostSite {
    typealias Interaction = Ledger<HostRequest>.Interaction
    typealias Grant = Ledger<HostRequest>.Grant

    func authorize(_ visit: Visit) -> Response {
        if let id = visit.form["ctx"] { return proceed(visit, interaction: id) }
        do throws(HostError) {
            let request = try read(visit.parameters)
            return advance(Interaction(request: request, signedIn: silentAccount(for: request, visit)), visit)
        } catch {
            return answer(error, to: error.target, visit)
        }
    }

    private func accounts(_ visit: Visit) -> [SignedIn] {
        host.ledger.accounts(inSession: visit.cookie(host.sessionCookie))
    }

    /// Returns the account that needs no page: the hinted one, or the only one, unless a prompt requires the user.
    private func silentAccount(for request: HostRequest, _ visit: Visit) -> SignedIn? {
        guard request.prompts.isDisjoint(with: ["login", "select_account"]) else { return nil }
        var accounts = accounts(visit)
        if let hint = request.loginHint { accounts.removeAll { known($0.username)?.goes(by: hint) != true } }
        return accounts.count == 1 ? accounts.first : nil
    }

    func known(_ name: String) -> User? { world.directory.users.first { $0.goes(by: name) } }

    /// Returns the next page, or the final response.
    func advance(_ interaction: Interaction, _ visit: Visit) -> Response {
        guard let signedIn = interaction.signedIn, let user = known(signedIn.username) else {
            return signInPage(interaction, visit)
        }
        visit.user = user.username
        if host.ledger.isTooLate(interaction) { return .page(Pages.stale, status: .badRequest) }
        let request = interaction.request
        if interaction.userCode != nil, !interaction.isConfirmed {
            return host.ledger.page(interaction, visit) { Pages.deviceConfirm(request.client.name, user, form: $0) }
        }
        if needsConsent(interaction, user) {
            let names = knownScopes.filter { request.scopes.contains($0.key) }.map(\.value)
            return page(interaction, visit, or: .consentRequired) {
                Pages.consent(request.client.name, user, names, form: $0)
            }
        }
        return finish(interaction, signedIn, visit)
    }

    private func signInPage(_ interaction: Interaction, _ visit: Visit, message: String? = nil) -> Response {
        let known = accounts(visit)
        let request = interaction.request
        let mustType = interaction.wantsOtherAccount || request.prompts.contains("login")
        return page(interaction, visit, or: .loginRequired) { form in
            if !mustType, !known.isEmpty, message == nil, request.loginHint == nil {
                return Pages.picker(known, form: form, world.directory)
            }
            let hint = interaction.wantsOtherAccount ? nil : request.loginHint
            return Pages.signIn(at: self, form: form, hint: hint, message: message)
        }
    }

    /// Returns a page of an interaction; the refusal if the client requested no pages.
    private func page(
        _ interaction: Interaction, _ visit: Visit, or failure: HostError, _ body: (InteractionForm) -> HTML
    ) -> Response {
        interaction.isSilent
            ? answer(failure, to: interaction.request.target, visit) : host.ledger.page(interaction, visit, body)
    }

    private func needsConsent(_ interaction: Interaction, _ user: User) -> Bool {
        if interaction.hasConsented { return false }
        if interaction.request.prompts.contains("consent") { return true }
        // Anyone can pretend to be a public client, so Gitea asks every time.
        if style == .gitea, interaction.request.client.secret == nil { return true }
        let given = host.ledger.with { $0.consents }
        return !given.isSuperset(of: consents(user, interaction.request))
    }

    private func consents(_ user: User, _ request: HostRequest) -> [String] {
        (request.scopes + [""]).map { "\(user.username)|\(request.client.id)|\($0)" }
    }

    // MARK: What a user sent

    func proceed(_ visit: Visit, interaction id: String) -> Response {
        guard var interaction = host.ledger.with({ $0.interactions.removeValue(forKey: id) }) else {
            return .page(Pages.stale, status: .badRequest)
        }
        let form = visit.form
        visit.user = interaction.signedIn?.username
        if form["consent"] == "decline" || form["device"] == "decline" { return decline(interaction, visit) }
        if let username = form["account"] {
            interaction.wantsOtherAccount = username == "other"
            interaction.signedIn = accounts(visit).first { $0.username == username }
        } else if form["device"] == "approve" {
            interaction.isConfirmed = true
        } else if form["loginfmt"] != nil {
            return signIn(interaction, visit)
        } else if form["consent"] == "accept", !host.ledger.isTooLate(interaction) {
            consent(to: &interaction)
        }
        return advance(interaction, visit)
    }

    private func decline(_ interaction: Interaction, _ visit: Visit) -> Response {
        guard interaction.userCode != nil else { return answer(.denied, to: interaction.request.target, visit) }
        host.ledger.decide(.declined, in: interaction)
        return .page(Pages.deviceDeclined)
    }

    private func signIn(_ interaction: Interaction, _ visit: Visit) -> Response {
        guard let user = known(visit.form["loginfmt"] ?? ""), visit.form["passwd"] == user.password else {
            return signInPage(interaction, visit, message: "Incorrect username or password.")
        }
        var interaction = interaction
        let signedIn = SignedIn(username: user.username, at: .now)
        interaction.signedIn = signedIn
        let session = host.ledger.remember(signedIn, inSession: visit.cookie(host.sessionCookie))
        return advance(interaction, visit).remembering(session, in: host.sessionCookie)
    }

    private func consent(to interaction: inout Interaction) {
        interaction.hasConsented = true
        guard let user = interaction.signedIn.flatMap({ known($0.username) }) else { return }
        let entries = consents(user, interaction.request)
        host.ledger.with { $0.consents.formUnion(entries) }
    }

    /// Returns the redirect with a code, or approves the device.
    private func finish(_ interaction: Interaction, _ signedIn: SignedIn, _ visit: Visit) -> Response {
        guard let target = interaction.request.target else {
            host.ledger.decide(.approved(signedIn), in: interaction)
            return .page(Pages.deviceDone)
        }
        let code = host.ledger.issue(newSecret(), Grant(request: interaction.request, signedIn: signedIn))
        return redirect([("code", code)], to: target, visit)
    }

    /// Sends a failure to the client, or shows it to the user if there is nowhere to send it.
    private func answer(_ failure: HostError, to target: ReturnAddress?, _ visit: Visit) -> Response {
        guard let target else { return .page(Pages.refusal(failure), status: .badRequest) }
        return redirect(
            [("error", failure.name(at: style)), ("error_description", failure.message)], to: target, visit)
    }

    private func redirect(
        _ fields: [(name: String, value: String)], to target: ReturnAddress, _ visit: Visit
    ) -> Response {
        var fields = fields
        if let state = world.faults.consume(\.state, at: visit.path) ?? target.state { fields.append(("state", state)) }
        // The issuer (RFC 9207). GitHub and Gitea omit it; a forged empty one is omitted, too.
        let issuer = world.faults.consume(\.issuer, at: visit.path) ?? host.url
        if style == .issuer, !issuer.isEmpty { fields.append(("iss", issuer)) }
        return target.response(Form(fields))
    }
}

extension User {
    /// Whether a name is the user's: the whole username or the hosts' own name.
    func goes(by name: String) -> Bool {
        let name = name.lowercased()
        return name == username.lowercased() || name == login.lowercased()
    }
}

/// Sign-ins on a device without a browser (RFC 8628), at a host.
extension HostSite {
    func deviceCode(_ visit: Visit) -> Response {
        do throws(HostError) {
            let client = try client(of: visit)
            guard world.settings.deviceCodeLifetime > 0, client.grants.contains(HostClient.deviceGrant) else {
                throw .forbiddenGrantType
            }
            let request = HostRequest(
                client: client, scopes: try scopes(visit.form["scope"]), resources: try resources(of: visit.form))
            let (code, device) = host.ledger.register(request, codeBytes: 30, userCodeLength: 8, world.settings)
            return describe(device, userCode: "\(code.prefix(4))-\(code.suffix(4))", visit)
        } catch {
            return answer(error, visit)
        }
    }

    private func describe(_ device: Ledger<HostRequest>.Device, userCode: String, _ visit: Visit) -> Response {
        var answer: [String: JSONValue] = [
            "device_code": .string(device.deviceCode), "user_code": .string(userCode),
            "expires_in": .integer(Int64(world.settings.deviceCodeLifetime)),
            "interval": .integer(Int64(device.polling.interval)),
        ]
        switch style {
        case .issuer, .gitea:
            answer["verification_uri"] = .string(host.url + "/oauth/device")
            answer["verification_uri_complete"] = .string(host.url + "/oauth/device?user_code=\(userCode)")
            return .json(.object(answer))
        case .forge:
            answer["verification_uri"] = .string(host.url + "/login/device")
            return gitHubAnswer(answer, visit)
        }
    }

    /// Handles one poll of the token endpoint.
    func redeemDeviceCode(_ visit: Visit, _ client: HostClient) throws(HostError) -> Issue {
        guard let text = visit.form["device_code"] else { throw .missing("device_code") }
        guard let (device, isTooFast) = host.ledger.poll(text, by: client.id) else { throw .badDeviceCode }
        guard device.expires > .now else { throw .expiredDeviceCode }
        switch device.decision {
        case .declined: throw .denied
        case .pending: throw isTooFast ? .slowDown(device.polling.interval) : .pending
        case .approved(let signedIn):
            return Issue(grant: Grant(request: device.request, signedIn: signedIn), scopes: device.request.scopes)
        }
    }

    /// Returns the page where a user enters a device's code, or the steps after it.
    func devicePage(_ visit: Visit) -> Response {
        if let id = visit.form["ctx"] { return proceed(visit, interaction: id) }
        guard visit.method == .post, let typed = visit.form["otc"] else {
            return .page(Pages.deviceCode(action: visit.path, code: visit.query["user_code"] ?? ""))
        }
        guard let interaction = host.ledger.approval(of: typed) else {
            return .page(Pages.deviceCode(action: visit.path, isWrong: true))
        }
        return advance(interaction, visit)
    }
}

/// A valid request to a host's authorization endpoint, which may be answered with a redirect, or that of a device.
struct HostRequest: ClientRequest {
    let client: HostClient
    var target: ReturnAddress?
    let scopes: [String]
    /// The resources of the tokens (RFC 8707); empty for the whole host.
    let resources: [String]
    var prompts: Set<String> = []
    var challenge: String?
    var nonce: String?
    var loginHint: String?

    var clientID: String { client.id }
}

extension HostSite {
    /// The scopes that a host supports, and their names on its pages.
    var knownScopes: KeyValuePairs<String, String> {
        switch style {
        case .issuer:
            [
                "openid": "Sign you in", "profile": "Read your name", "email": "Read your email address",
                "groups": "Read your organisations", "offline_access": "Keep this access while you are away",
                "read_repository": "Read your repositories", "write_repository": "Change your repositories",
                "read_registry": "Read your images", "write_registry": "Change your images",
                "read_api": "Read everything of yours", "api": "Change everything of yours",
            ]
        case .gitea: ["openid": "Sign you in", "profile": "Read your name", "email": "Read your email address"]
        case .forge:
            [
                "repo": "Full control of private repositories", "gist": "Create gists",
                "workflow": "Update GitHub Actions workflows", "read:org": "Read your organizations",
                "read:packages": "Read your packages", "write:packages": "Change your packages",
                "user": "Update all your user data", "offline_access": "Keep this access while you are away",
            ]
        }
    }

    func read(_ parameters: Form) throws(HostError) -> HostRequest {
        guard let client = parameters["client_id"].flatMap(host.client) else { throw .badClient }
        let target = try target(of: parameters, for: client)
        do throws(HostError) {
            if style != .forge { try checkForm(of: parameters) }
            let challenge = try challenge(of: parameters)
            return HostRequest(
                client: client, target: target, scopes: try scopes(parameters["scope"]),
                resources: try resources(of: parameters), prompts: try prompts(of: parameters), challenge: challenge,
                nonce: parameters["nonce"], loginHint: parameters["login_hint"] ?? parameters["login"])
        } catch {
            throw error.sent(to: target)
        }
    }

    private func target(of parameters: Form, for client: HostClient) throws(HostError) -> ReturnAddress {
        // GitHub redirects to the registered URI if the request names none.
        let registered = style == .forge ? client.redirectURIs.first : nil
        guard let redirect = parameters["redirect_uri"] ?? registered,
            client.accepts(redirect: redirect, at: style)
        else { throw .badRedirect }
        let mode = ReturnAddress.ResponseMode(rawValue: parameters["response_mode"] ?? "query")
        return ReturnAddress(uri: redirect, mode: mode ?? .query, state: parameters["state"])
    }

    private func checkForm(of parameters: Form) throws(HostError) {
        let names = parameters.fields.map(\.name).filter { $0 != "resource" }
        guard names.count == Set(names).count else { throw .badRequest("A parameter came twice.") }
        guard let type = parameters["response_type"] else { throw .missing("response_type") }
        guard type == "code" else {
            throw HostError("unsupported_response_type", "The response_type \(type) is not known here.")
        }
        guard parameters["code_challenge"] != nil else { throw .missing("code_challenge") }
        if let mode = parameters["response_mode"], ReturnAddress.ResponseMode(rawValue: mode) == nil {
            throw .badRequest("The response_mode \(mode) is not known here.")
        }
    }

    private func challenge(of parameters: Form) throws(HostError) -> String? {
        guard let challenge = parameters["code_challenge"] else { return nil }
        guard parameters["code_challenge_method"] == "S256", challenge.utf8.count == 43 else {
            throw .badRequest("The code_challenge must be an S256 digest, which is 43 characters long.")
        }
        return challenge
    }

    /// Parses a `scope` parameter.
    ///
    /// GitHub and Gitea drop unknown scopes; GitHub also accepts commas between scopes.
    func scopes(_ text: String?) throws(HostError) -> [String] {
        let known = knownScopes.map(\.key)
        guard let text else { return style == .issuer ? ["read_repository"] : [] }
        let asked = text.split { $0 == " " || style == .forge && $0 == "," }.map(String.init)
        if style == .issuer, let odd = asked.first(where: { !known.contains($0) }) { throw .badScope(odd) }
        let offline = "offline_access"
        guard style == .forge, asked.contains(offline), world.settings.offlineAccess != .granted else {
            return known.filter(asked.contains)
        }
        if world.settings.offlineAccess == .refused { throw .badScope(offline) }
        return known.filter { $0 != offline && asked.contains($0) }
    }

    /// Returns the resources of a request (RFC 8707): this host as a whole, or paths of it.
    func resources(of parameters: Form) throws(HostError) -> [String] {
        let asked = parameters.fields.filter { $0.name == "resource" && !$0.value.isEmpty }.map(\.value)
        guard style == .issuer else { return [] }
        let areOwn = asked.allSatisfy { ($0 == host.url || $0.hasPrefix(host.url + "/")) && !$0.contains("#") }
        guard areOwn else { throw .badTarget }
        return asked
    }

    private func prompts(of parameters: Form) throws(HostError) -> Set<String> {
        let prompts = Set((parameters["prompt"] ?? "").split(separator: " ").map(String.init))
        if prompts.contains("none"), prompts.count > 1 {
            throw .badRequest("The prompt none can't be combined with others.")
        }
        return prompts
    }
}
