import FoundationEssentials
import Hummingbird

/// The authorization endpoint: a request starts an interaction, and each submitted page continues it.
extension World {
    typealias Interaction = Ledger<SignInRequest>.Interaction
    typealias Grant = Ledger<SignInRequest>.Grant

    static let sessionCookie = "lanyard_sandbox_session"

    func authorize(_ visit: Visit, at authority: AuthorityPath) -> Response {
        if let id = visit.form["ctx"] { return proceed(visit, interaction: id) }
        do throws(SignInRefusal<OAuthFailure>) {
            let request = try read(visit.parameters, at: authority)
            return advance(Interaction(request: request, signedIn: silentAccount(for: request, visit)), visit)
        } catch {
            return answer(error.failure, to: error.target, visit)
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
            let failure = OAuthFailure.unknownUser(user.username, in: request.authority.prefix)
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
        _ interaction: Interaction, _ visit: Visit, or failure: OAuthFailure, _ body: (InteractionForm) -> HTML
    ) -> Response {
        interaction.isSilent
            ? answer(failure, to: interaction.request.target, visit) : ledger.page(interaction, visit, body)
    }
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
