import FoundationEssentials
import Hummingbird

/// The authorization endpoint: a request starts an interaction, and each submitted page continues it.
extension World {
    static let sessionCookie = "lanyard_sandbox_session"

    func authorize(_ visit: Visit, at authority: AuthorityPath) -> Response {
        if let id = visit.form["ctx"] { return proceed(visit, interaction: id, at: authority) }
        do throws(AuthorizationRefusal) {
            let request = try SignInRequest.read(visit.parameters, at: authority, in: directory)
            var interaction = Interaction(purpose: .authorization(request))
            interaction.signedIn = silentAccount(for: request, visit)
            return advance(interaction, visit, at: authority)
        } catch {
            switch error {
            case .onPage(let failure): return .page(Pages.refusal(failure, visit), status: .badRequest)
            case .redirected(let failure, let target): return answer(failure, to: target, visit)
            }
        }
    }

    /// Returns the browser's accounts that are allowed in a realm and match a domain hint.
    func eligibleAccounts(_ visit: Visit, realm: Realm, domainHint: String? = nil) -> [SignedIn] {
        ledger.accounts(inSession: visit.cookie(Self.sessionCookie)).filter { account in
            guard let user = directory.user(account.username), realm.admits(user, in: directory) else { return false }
            switch domainHint {
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
        var accounts = eligibleAccounts(visit, realm: request.authority.realm, domainHint: request.domainHint)
        if let hint = request.loginHint { accounts.removeAll { $0.username.lowercased() != hint.lowercased() } }
        if let age = request.maximumAge {
            accounts.removeAll { $0.at.addingTimeInterval(TimeInterval(age)) < .now }
        }
        return accounts.count == 1 ? accounts.first : nil
    }

    /// Returns the next page, or the final response.
    func advance(_ interaction: Interaction, _ visit: Visit, at authority: AuthorityPath) -> Response {
        guard let signedIn = interaction.signedIn, let user = directory.user(signedIn.username) else {
            return signInPage(interaction, visit, at: authority)
        }
        visit.user = user.username
        guard let tenant = authority.realm.issuer(for: user, in: directory) else {
            let failure = OAuthFailure.unknownUser(user.username, in: authority.prefix)
            let isSilent = interaction.request?.prompts.contains("none") == true
            return isSilent
                ? silentRefusal(failure, interaction, visit) : .page(Pages.refusal(failure, visit), status: .badRequest)
        }
        if case .device = interaction.purpose, !interaction.isConfirmed,
            let client = directory.client(interaction.clientID(in: self)),
            let response = page(interaction, visit, { Pages.deviceConfirm(client, user, form: $0) })
        {
            return response
        }
        if authority.realm.isEditPolicy, !interaction.hasEdited,
            let response = page(interaction, visit, { Pages.edit(user, form: $0) })
        {
            return response
        }
        if let context = interaction.proofsWanted(by: tenant).first(where: { !signedIn.proofs.contains($0) }) {
            return page(interaction, visit) { Pages.proof(user: user, context: context, form: $0) }
                ?? silentRefusal(.proofRequired(context), interaction, visit)
        }
        if let response = consentPage(interaction, user, visit, at: authority) { return response }
        return finish(interaction, user, signedIn, visit)
    }

    private func signInPage(_ interaction: Interaction, _ visit: Visit, at authority: AuthorityPath) -> Response {
        let request = interaction.request
        var accounts = eligibleAccounts(visit, realm: authority.realm, domainHint: request?.domainHint)
        let hint = request?.loginHint
        let mustType = interaction.wantsOtherAccount || request?.prompts.contains("login") == true
        if let hint, request?.prompts.contains("select_account") != true {
            accounts.removeAll { $0.username.lowercased() != hint.lowercased() }
        }
        let response: Response?
        if authority.realm.isResetPolicy {
            response = page(interaction, visit) { Pages.reset(form: $0, authority.realm, hint: hint) }
        } else if interaction.wantsNewAccount || request?.prompts.contains("create") == true {
            response = page(interaction, visit) { Pages.create(form: $0, authority.realm) }
        } else if mustType || accounts.isEmpty || request?.maximumAge != nil {
            let known = interaction.wantsOtherAccount ? nil : hint
            response = page(interaction, visit) {
                Pages.signIn(at: authority.realm, of: directory, form: $0, hint: known)
            }
        } else {
            response = page(interaction, visit) { Pages.picker(accounts, form: $0, self.directory) }
        }
        return response ?? silentRefusal(.loginRequired, interaction, visit)
    }

    private func consentPage(
        _ interaction: Interaction, _ user: User, _ visit: Visit, at authority: AuthorityPath
    ) -> Response? {
        guard !interaction.hasConsented, let client = directory.client(interaction.clientID(in: self)) else {
            return nil
        }
        var permissions = consentNeeded(
            by: user, for: interaction.scopes(in: self), client: client, realm: authority.realm)
        if permissions.isEmpty, interaction.request?.prompts.contains("consent") == true {
            permissions = permissionsCovered(by: interaction.scopes(in: self), client: client)
        }
        guard !permissions.isEmpty else { return nil }
        return page(interaction, visit) { Pages.consent(client, user, permissions, form: $0) }
            ?? silentRefusal(.consentRequired(client), interaction, visit)
    }

    /// Returns a page of an interaction; nil if the client requested no pages.
    func page(_ interaction: Interaction, _ visit: Visit, _ body: (InteractionForm) -> HTML) -> Response? {
        if interaction.request?.prompts.contains("none") == true { return nil }
        let id = ledger.begin(interaction)
        return .page(body(InteractionForm(action: visit.path, id: id)))
    }

    private func silentRefusal(_ failure: OAuthFailure, _ interaction: Interaction, _ visit: Visit) -> Response {
        guard let request = interaction.request else {
            return .page(Pages.refusal(failure, visit), status: .badRequest)
        }
        return answer(failure, to: request.target, visit)
    }
}

extension Interaction {
    var request: SignInRequest? {
        guard case .authorization(let request) = purpose else { return nil }
        return request
    }

    var claims: ClaimsRequest { request?.claims ?? ClaimsRequest() }

    /// Returns the additional proofs that a tenant or the client requires.
    func proofsWanted(by tenant: Tenant?) -> [String] {
        claims.contexts + (tenant?.mfa == true ? [SignedIn.secondProof] : [])
    }

    func clientID(in world: World) -> String {
        switch purpose {
        case .authorization(let request): request.client.id
        case .device(let userCode): world.ledger.with { $0.devices[userCode]?.clientID ?? "" }
        }
    }

    func scopes(in world: World) -> ScopeRequest {
        switch purpose {
        case .authorization(let request): request.scopes
        case .device(let userCode): world.ledger.with { $0.devices[userCode]?.scopes } ?? ScopeRequest()
        }
    }
}

extension SignInRequest {
    var target: ReturnAddress { ReturnAddress(uri: redirectURI, mode: responseMode, state: state) }
}

extension OAuthFailure {
    static let loginRequired = OAuthFailure(
        "login_required", 50058,
        "Session information is not sufficient for single-sign-on: a silent sign-in request was sent but no user is "
            + "signed in.")

    static func proofRequired(_ context: String) -> OAuthFailure {
        OAuthFailure("interaction_required", 50076, "You must use multi-factor authentication to access '\(context)'.")
    }

    static func consentRequired(_ client: Client) -> OAuthFailure {
        OAuthFailure(
            "consent_required", 65001,
            "The user or administrator has not consented to use the application with ID '\(client.id)' named "
                + "'\(client.name)'.")
    }
}
