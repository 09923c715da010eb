import FoundationEssentials
import HTTPTypes
import Hummingbird

/// The authorization endpoint: a request starts an interaction, and each submitted page continues it.
extension World {
    typealias Interaction = Ledger<SignInRequest>.Interaction
    typealias Grant = Ledger<SignInRequest>.Grant

    static let sessionCookie = "lanyard_sandbox_session"

    func authorize(_ visit: Visit, at authority: AuthorityPath) -> Response {
        if let id = visit.form["ctx"] { return proceed(visit, interaction: id) }
        do throws(OAuthErrorResponse) {
            let request = try read(visit.parameters, at: authority)
            return advance(Interaction(request: request, signedIn: silentAccount(for: request, visit)), visit)
        } catch {
            return answer(error, to: error.target, visit)
        }
    }

    /// Returns the browser's accounts that are allowed in the realm and match the domain hint.
    func eligibleAccounts(_ visit: Visit, _ request: SignInRequest) -> [SignedIn] {
        ledger.accounts(inSession: visit.cookie(Self.sessionCookie)).filter { account in
            guard let user = directory.user(account.username), request.authority.realm.admits(user, in: directory)
            else { return false }
            switch request.domainHint {
            case nil: return true
            case "consumers": return directory.home(of: user)?.kind == .consumers
            case "organizations": return directory.home(of: user)?.kind == .organization
            case let domain?: return user.tenant == domain || account.username.lowercased().hasSuffix("@" + domain)
            }
        }
    }

    /// Returns the account that needs no page: the hinted one, or the only one, unless a prompt requires the user.
    private func silentAccount(for request: SignInRequest, _ visit: Visit) -> SignedIn? {
        guard request.prompts.isDisjoint(with: ["login", "select_account", "create"]) else { return nil }
        var accounts = eligibleAccounts(visit, request)
        if let hint = request.loginHint { accounts.removeAll { $0.username.lowercased() != hint.lowercased() } }
        if let age = request.maximumAge {
            accounts.removeAll { $0.at.addingTimeInterval(TimeInterval(age)) < .now }
        }
        return accounts.count == 1 ? accounts.first : nil
    }

    /// Returns the next page, or the final response.
    func advance(_ interaction: Interaction, _ visit: Visit) -> Response {
        guard let signedIn = interaction.signedIn, let user = directory.user(signedIn.username) else {
            return signInPage(interaction, visit)
        }
        visit.user = user.username
        let request = interaction.request
        guard let tenant = request.authority.realm.issuer(for: user, in: directory) else {
            let failure = OAuthErrorResponse.unknownUser(user.username, in: request.authority.prefix)
            return answer(failure, to: interaction.isSilent ? request.target : nil, visit)
        }
        if interaction.userCode != nil, !interaction.isConfirmed {
            return ledger.page(interaction, visit) { Pages.deviceConfirm(request.client.name, user, form: $0) }
        }
        if request.authority.realm.isEditPolicy, !interaction.hasEdited, !interaction.isSilent {
            return ledger.page(interaction, visit) { Pages.edit(user, form: $0) }
        }
        if let context = request.claims.proofs(wantedBy: tenant).first(where: { !signedIn.proofs.contains($0) }) {
            return page(interaction, visit, or: .proofRequired(context)) {
                Pages.proof(user: user, context: context, form: $0)
            }
        }
        let permissions = permissionsAsked(in: interaction, of: user)
        guard permissions.isEmpty else {
            return page(interaction, visit, or: .consentRequired(request.client)) {
                Pages.consent(request.client.name, user, permissions, form: $0)
            }
        }
        return finish(interaction, user, signedIn, visit)
    }

    private func signInPage(_ interaction: Interaction, _ visit: Visit) -> Response {
        let request = interaction.request
        let realm = request.authority.realm
        var accounts = eligibleAccounts(visit, request)
        let hint = request.loginHint
        if let hint, !request.prompts.contains("select_account") {
            accounts.removeAll { $0.username.lowercased() != hint.lowercased() }
        }
        let mustType = interaction.wantsOtherAccount || request.prompts.contains("login") || request.maximumAge != nil
        return page(interaction, visit, or: .loginRequired) { form in
            if realm.isResetPolicy { return Pages.reset(form: form, realm, hint: hint) }
            if interaction.wantsNewAccount || request.prompts.contains("create") {
                return Pages.create(form: form, realm)
            }
            guard mustType || accounts.isEmpty else { return Pages.picker(accounts, form: form, directory) }
            let known = interaction.wantsOtherAccount ? nil : hint
            return Pages.signIn(at: realm, of: directory, form: form, hint: known)
        }
    }

    /// Returns the permissions that the user must still consent to; empty if none.
    private func permissionsAsked(in interaction: Interaction, of user: User) -> [String] {
        if interaction.hasConsented { return [] }
        let request = interaction.request
        let needed = consentNeeded(
            by: user, for: request.scopes, client: request.client, realm: request.authority.realm)
        guard needed.isEmpty, request.prompts.contains("consent") else { return needed }
        return permissionsCovered(by: request.scopes, client: request.client)
    }

    /// Returns a page of an interaction; the refusal if the client requested no pages.
    private func page(
        _ interaction: Interaction, _ visit: Visit, or failure: OAuthErrorResponse, _ body: (InteractionForm) -> HTML
    ) -> Response {
        interaction.isSilent
            ? answer(failure, to: interaction.request.target, visit) : ledger.page(interaction, visit, body)
    }
}

extension OAuthErrorResponse {
    static let loginRequired = OAuthErrorResponse(
        "login_required", 50058,
        "Session information is not sufficient for single-sign-on: a silent sign-in request was sent but no user is "
            + "signed in.")

    static func proofRequired(_ context: String) -> OAuthErrorResponse {
        OAuthErrorResponse(
            "interaction_required", 50076, "You must use multi-factor authentication to access '\(context)'.")
    }

    static func consentRequired(_ client: Client) -> OAuthErrorResponse {
        OAuthErrorResponse(
            "consent_required", 65001,
            "The user or administrator has not consented to use the application with ID '\(client.id)' named "
                + "'\(client.name)'.")
    }
}

/// Handles the forms that the user submits.
extension World {
    func proceed(_ visit: Visit, interaction id: String) -> Response {
        // Each page can be submitted once, so that going back and submitting again can't repeat a step.
        guard var interaction = ledger.with({ $0.interactions.removeValue(forKey: id) }) else {
            return .page(Pages.stale, status: .badRequest)
        }
        if let decline = decision(visit, interaction) { return decline }
        let form = visit.form
        if let username = form["account"] {
            interaction.wantsOtherAccount = username == "other"
            interaction.signedIn = eligibleAccounts(visit, interaction.request).first { $0.username == username }
        } else if form["device"] == "approve" {
            interaction.isConfirmed = true
        } else if form["b2c"] == "signup" {
            interaction.wantsNewAccount = true
        } else if let username = form["reset_username"] {
            return reset(username, visit, interaction)
        } else if let name = form["profile_name"], let username = interaction.signedIn?.username {
            directory.update(username) { $0.name = name }
            interaction.hasEdited = true
        } else if form["new_username"] != nil {
            return create(visit, interaction)
        } else if form["loginfmt"] != nil {
            return signIn(visit, interaction)
        } else if form["proof"] == "approve", let signedIn = interaction.signedIn {
            return remember(proofsOf: interaction, signedIn, visit)
        } else if form["consent"] == "accept", let user = interaction.signedIn.flatMap({ directory.user($0.username) })
        {
            giveConsent(by: user, to: interaction.request.client, for: interaction.request.scopes)
            interaction.hasConsented = true
        }
        return advance(interaction, visit)
    }

    /// Returns the final response if the user chose to stop; nil if the user continues.
    private func decision(_ visit: Visit, _ interaction: Interaction) -> Response? {
        let failure: OAuthErrorResponse
        switch (visit.form["consent"], visit.form["proof"], visit.form["b2c"]) {
        case ("decline", _, _):
            failure = OAuthErrorResponse(
                "access_denied", 65004, "The resource owner or authorization server denied the request.")
        case (_, "deny", _):
            failure = OAuthErrorResponse(
                "access_denied", 500_121, "Authentication failed during strong authentication request.")
        case (_, _, "cancel"):
            failure = .b2c("access_denied", 90091, "The user has cancelled entering self-asserted information.")
        case (_, _, "forgot"):
            failure = .b2c("access_denied", 90118, "The user has forgotten their password.")
        default: return nil
        }
        visit.user = interaction.signedIn?.username
        guard interaction.userCode != nil else { return answer(failure, to: interaction.request.target, visit) }
        ledger.decide(.declined, in: interaction)
        return .page(Pages.deviceDeclined)
    }

    private func signIn(_ visit: Visit, _ interaction: Interaction) -> Response {
        let realm = interaction.request.authority.realm
        guard let user = directory.user(visit.form["loginfmt"] ?? ""),
            realm.policy == nil || realm.admits(user, in: directory)
        else { return retry(visit, interaction, "We couldn't find an account with that username.") }
        guard visit.form["passwd"] == user.password else {
            return retry(visit, interaction, "Your account or password is incorrect (AADSTS50126).")
        }
        return goOn(interaction, SignedIn(username: user.username, at: .now), visit)
    }

    /// Sets a new password, from the page of a B2C policy that resets it.
    private func reset(_ username: String, _ visit: Visit, _ interaction: Interaction) -> Response {
        let realm = interaction.request.authority.realm
        guard realm.isResetPolicy, let user = directory.user(username), realm.admits(user, in: directory),
            let password = visit.form["new_passwd"]
        else {
            return ledger.page(interaction, visit) {
                Pages.reset(form: $0, realm, hint: username, message: "There is no such account.")
            }
        }
        directory.update(user.username) { $0.password = password }
        return goOn(interaction, SignedIn(username: user.username, at: .now), visit)
    }

    /// Continues as the user who has just signed in, and stores the account in the browser's session.
    private func goOn(_ interaction: Interaction, _ signedIn: SignedIn, _ visit: Visit) -> Response {
        var interaction = interaction
        interaction.signedIn = signedIn
        let response = advance(interaction, visit)
        let session = ledger.remember(signedIn, inSession: visit.cookie(Self.sessionCookie))
        return response.remembering(session, in: Self.sessionCookie)
    }

    private func retry(_ visit: Visit, _ interaction: Interaction, _ message: String) -> Response {
        ledger.page(interaction, visit) {
            Pages.signIn(
                at: interaction.request.authority.realm, of: directory, form: $0, hint: visit.form["loginfmt"],
                message: message)
        }
    }

    private func remember(proofsOf interaction: Interaction, _ signedIn: SignedIn, _ visit: Visit) -> Response {
        var proved = signedIn
        let request = interaction.request
        let tenant = directory.user(signedIn.username)
            .flatMap { request.authority.realm.issuer(for: $0, in: directory) }
        proved.proofs.formUnion(request.claims.proofs(wantedBy: tenant))
        return goOn(interaction, proved, visit)
    }

    /// Creates an account in the realm's own tenant; in other realms only a personal account.
    private func create(_ visit: Visit, _ interaction: Interaction) -> Response {
        let realm = interaction.request.authority.realm
        let home: Tenant? =
            switch realm {
            case .tenant(let tenant), .policy(let tenant, _), .consumers(let tenant): tenant
            case .common, .organizations: directory.tenants.first { $0.kind == .consumers }
            }
        let username = visit.form["new_username"] ?? ""
        guard let home, username.contains("@"), let password = visit.form["new_passwd"],
            directory.add(
                User(
                    username: username, name: visit.form["new_name"] ?? username, password: password,
                    tenant: home.domain, id: newIdentifier()))
        else {
            return ledger.page(interaction, visit) {
                Pages.create(form: $0, realm, message: "Choose another username and a password.")
            }
        }
        return goOn(interaction, SignedIn(username: username, at: .now), visit)
    }

    /// Returns the redirect with a code, or approves the device.
    func finish(_ interaction: Interaction, _ user: User, _ signedIn: SignedIn, _ visit: Visit) -> Response {
        let request = interaction.request
        guard let target = request.target else {
            ledger.decide(.approved(signedIn), in: interaction)
            return .page(Pages.deviceDone)
        }
        let code = ledger.issue("1." + newSecret(bytes: 48), Grant(request: request, signedIn: signedIn))
        var fields: [(name: String, value: String)] = [("code", code)]
        if request.parameters["client_info"] == "1" {
            fields.append(("client_info", clientInfo(of: user, realm: request.authority.realm)))
        }
        fields.append(("session_state", newIdentifier()))
        return redirect(fields, to: target, visit)
    }

    /// Sends a failure to the client, or shows it to the user if there is nowhere to send it.
    func answer(_ failure: OAuthErrorResponse, to target: ReturnAddress?, _ visit: Visit) -> Response {
        guard let target else { return .page(Pages.refusal(failure, visit), status: .badRequest) }
        var fields = [
            (name: "error", value: failure.error),
            (name: "error_description", value: failure.description(of: visit, trace: newIdentifier())),
        ]
        if let suberror = failure.suberror { fields.append(("error_subcode", suberror)) }
        return redirect(fields, to: target, visit)
    }

    private func redirect(
        _ fields: [(name: String, value: String)], to target: ReturnAddress, _ visit: Visit
    ) -> Response {
        var form = Form(fields)
        let forged = faults.consume(\.state, at: visit.path)
        if let state = forged ?? target.state { form.fields.append(("state", state)) }
        return target.response(form)
    }
}

extension ReturnAddress {
    /// Returns a response that sends these fields to the client in the requested response mode.
    func response(_ form: Form) -> Response {
        switch mode {
        case .query:
            guard !form.fields.isEmpty else { return .redirect(to: uri) }
            return .redirect(to: uri + (uri.contains("?") ? "&" : "?") + form.encoded)
        case .fragment: return .redirect(to: uri + "#" + form.encoded)
        case .formPost:
            let nonce = newSecret(bytes: 16)
            return .page(Pages.formPost(form, to: uri, scriptNonce: nonce), scriptNonce: nonce)
        }
    }
}

extension Response {
    /// Returns this response with a cookie for the browser's session.
    func remembering(_ session: String, in cookie: String) -> Response {
        var response = self
        response.headers[.setCookie] = "\(cookie)=\(session); Path=/; Secure; HttpOnly; SameSite=Lax"
        return response
    }
}

/// Consent of users to clients' permissions.
extension World {
    /// Returns the permissions that a user must still consent to before these scopes can be granted; empty if none.
    func consentNeeded(by user: User, for scopes: ScopeRequest, client: Client, realm: Realm) -> [String] {
        if client.preconsented == true || realm.policy != nil { return [] }
        let wanted = permissionsCovered(by: scopes, client: client)
        let given = ledger.with { $0.consents }
        return wanted.filter { !given.contains(Self.entry(user, client, $0)) }
    }

    func giveConsent(by user: User, to client: Client, for scopes: ScopeRequest) {
        let entries = permissionsCovered(by: scopes, client: client).map { Self.entry(user, client, $0) }
        ledger.with { $0.consents.formUnion(entries) }
    }

    /// Returns the permissions covered by consent to these scopes, as `Resource: Scope`.
    ///
    /// They are the scopes themselves and all permissions in the client's registration, so that another of its
    /// resources needs no second consent.
    func permissionsCovered(by scopes: ScopeRequest, client: Client) -> [String] {
        var covered: [String] = scopes.openID.isEmpty ? [] : ["Sign you in and read your profile"]
        for resource in scopes.resources {
            covered += scopes.granted(for: resource, to: client, in: directory).map { "\(resource.name): \($0.name)" }
        }
        for resource in directory.resources where client.permissions != nil && resource.tenant == client.tenant {
            covered += client.registered(for: resource, in: directory).map { "\(resource.name): \($0)" }
        }
        return covered.reduce(into: []) { unique, next in
            if !unique.contains(where: { $0.lowercased() == next.lowercased() }) { unique.append(next) }
        }
    }

    private static func entry(_ user: User, _ client: Client, _ permission: String) -> String {
        "\(user.username)|\(client.id)|\(permission.lowercased())"
    }
}
