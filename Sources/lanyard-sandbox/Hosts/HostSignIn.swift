import FoundationEssentials
import Hummingbird

/// A host's authorization endpoint: each submitted page continues an interaction.
extension HostSite {
    typealias Interaction = Ledger<HostRequest>.Interaction
    typealias Grant = Ledger<HostRequest>.Grant

    func authorize(_ visit: Visit) -> Response {
        if let id = visit.form["ctx"] { return proceed(visit, interaction: id) }
        do throws(SignInRefusal<HostFailure>) {
            let request = try read(visit.parameters)
            return advance(Interaction(request: request, signedIn: silentAccount(for: request, visit)), visit)
        } catch {
            return answer(error.failure, to: error.target, visit)
        }
    }

    private func accounts(_ visit: Visit) -> [SignedIn] {
        host.ledger.accounts(inSession: visit.cookie(host.sessionCookie))
    }

    /// Returns the account that needs no page: the hinted one, or the only one, unless a prompt requires the user.
    private func silentAccount(for request: HostRequest, _ visit: Visit) -> SignedIn? {
        guard request.prompts.isDisjoint(with: ["login", "select_account"]) else { return nil }
        var accounts = accounts(visit)
        if let hint = request.loginHint { accounts.removeAll { person($0.username)?.goes(by: hint) != true } }
        return accounts.count == 1 ? accounts.first : nil
    }

    func person(_ name: String) -> User? { world.directory.users.first { $0.goes(by: name) } }

    /// Returns the next page, or the final response.
    func advance(_ interaction: Interaction, _ visit: Visit) -> Response {
        guard let signedIn = interaction.signedIn, let user = person(signedIn.username) else {
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
        _ interaction: Interaction, _ visit: Visit, or failure: HostFailure, _ body: (InteractionForm) -> HTML
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

    // MARK: What a person sent

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
        guard let user = person(visit.form["loginfmt"] ?? ""), visit.form["passwd"] == user.password else {
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
        guard let user = interaction.signedIn.flatMap({ person($0.username) }) else { return }
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
    private func answer(_ failure: HostFailure, to target: ReturnAddress?, _ visit: Visit) -> Response {
        guard let target else { return .page(Pages.refusal(failure), status: .badRequest) }
        return redirect(
            [("error", failure.name(at: style)), ("error_description", failure.message)], to: target, visit)
    }

    private func redirect(
        _ fields: [(name: String, value: String)], to target: ReturnAddress, _ visit: Visit
    ) -> Response {
        var fields = fields
        if let state = world.faults.take(\.state, at: visit.path) ?? target.state { fields.append(("state", state)) }
        // The issuer (RFC 9207). GitHub and Gitea omit it; a forged empty one is omitted, too.
        let issuer = world.faults.take(\.issuer, at: visit.path) ?? host.url
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
