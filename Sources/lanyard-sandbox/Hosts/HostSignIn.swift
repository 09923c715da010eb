import FoundationEssentials
import Hummingbird

/// A host's authorization endpoint: each submitted page continues an interaction.
extension HostSite {
    func authorize(_ visit: Visit) -> Response {
        if let id = visit.form["ctx"] { return proceed(visit, interaction: id) }
        do throws(HostRefusal) {
            let request = try read(visit.parameters)
            var interaction = HostInteraction(purpose: .authorization(request))
            interaction.signedIn = silentAccount(for: request, visit)
            return advance(interaction, visit)
        } catch {
            switch error {
            case .onPage(let failure): return .page(Pages.refusal(failure), status: .badRequest)
            case .redirected(let failure, let target): return answer(failure, to: target, visit)
            }
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
    func advance(_ interaction: HostInteraction, _ visit: Visit) -> Response {
        guard let signedIn = interaction.signedIn, let user = person(signedIn.username) else {
            return signInPage(interaction, visit)
        }
        visit.user = user.username
        guard let (client, scopes) = asked(in: interaction) else { return .page(Pages.stale, status: .badRequest) }
        if interaction.request == nil, !interaction.isConfirmed,
            let response = page(interaction, visit, { Pages.deviceConfirm(client.application, user, form: $0) })
        {
            return response
        }
        if needsConsent(interaction, user, client, scopes) {
            let names = knownScopes.filter { scopes.contains($0.key) }.map(\.value)
            return page(interaction, visit) { Pages.consent(client.application, user, names, form: $0) }
                ?? refuse(.consentRequired, interaction, visit)
        }
        return finish(interaction, signedIn, visit)
    }

    /// Returns the client and the requested scopes; nil if the device is gone.
    private func asked(in interaction: HostInteraction) -> (HostClient, [String])? {
        switch interaction.purpose {
        case .authorization(let request): (request.client, request.scopes)
        case .device(let userCode):
            host.with { $0.devices[userCode] }.flatMap { device in
                host.client(device.clientID).map { ($0, device.scopes) }
            }
        }
    }

    private func signInPage(_ interaction: HostInteraction, _ visit: Visit, message: String? = nil) -> Response {
        let known = accounts(visit)
        let mustType = interaction.wantsOtherAccount || interaction.request?.prompts.contains("login") == true
        if !mustType, !known.isEmpty, message == nil, interaction.request?.loginHint == nil {
            return page(interaction, visit) { Pages.picker(known, form: $0, self.world.directory) }
                ?? refuse(.loginRequired, interaction, visit)
        }
        let hint = interaction.wantsOtherAccount ? nil : interaction.request?.loginHint
        return page(interaction, visit) { Pages.signIn(at: self, form: $0, hint: hint, message: message) }
            ?? refuse(.loginRequired, interaction, visit)
    }

    /// Returns a page of an interaction; nil if the client requested no pages.
    private func page(
        _ interaction: HostInteraction, _ visit: Visit, _ body: (InteractionForm) -> HTML
    ) -> Response? {
        if interaction.request?.prompts.contains("none") == true { return nil }
        let id = newSecret(bytes: 16)
        host.with { $0.interactions[id] = interaction }
        return .page(body(InteractionForm(action: visit.path, id: id)))
    }

    private func refuse(_ failure: HostFailure, _ interaction: HostInteraction, _ visit: Visit) -> Response {
        guard let request = interaction.request else { return .page(Pages.refusal(failure), status: .badRequest) }
        return answer(failure, to: request.target, visit)
    }

    private func needsConsent(
        _ interaction: HostInteraction, _ user: User, _ client: HostClient, _ scopes: [String]
    ) -> Bool {
        if interaction.hasConsented { return false }
        if interaction.request?.prompts.contains("consent") == true { return true }
        // Anyone can pretend to be a public client, so Gitea asks every time.
        if style == .gitea, client.secret == nil { return true }
        let given = host.ledger.with { $0.consents }
        return !given.isSuperset(of: consents(user, client, scopes))
    }

    private func consents(_ user: User, _ client: HostClient, _ scopes: [String]) -> [String] {
        (scopes + [""]).map { "\(user.username)|\(client.id)|\($0)" }
    }

    // MARK: What a person sent

    func proceed(_ visit: Visit, interaction id: String) -> Response {
        guard var interaction = host.with({ $0.interactions.removeValue(forKey: id) }) else {
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
        } else if form["consent"] == "accept" {
            consent(to: &interaction)
        }
        return advance(interaction, visit)
    }

    private func decline(_ interaction: HostInteraction, _ visit: Visit) -> Response {
        guard case .device(let userCode) = interaction.purpose else { return refuse(.denied, interaction, visit) }
        host.with { $0.devices[userCode]?.decision = .declined }
        return .page(Pages.deviceDeclined)
    }

    private func signIn(_ interaction: HostInteraction, _ visit: Visit) -> Response {
        guard let user = person(visit.form["loginfmt"] ?? ""), visit.form["passwd"] == user.password else {
            return signInPage(interaction, visit, message: "Incorrect username or password.")
        }
        var interaction = interaction
        let signedIn = SignedIn(username: user.username, at: .now)
        interaction.signedIn = signedIn
        let session = host.ledger.remember(signedIn, inSession: visit.cookie(host.sessionCookie))
        return advance(interaction, visit).remembering(session, in: host.sessionCookie)
    }

    private func consent(to interaction: inout HostInteraction) {
        interaction.hasConsented = true
        guard let user = interaction.signedIn.flatMap({ person($0.username) }), let asked = asked(in: interaction)
        else { return }
        let entries = consents(user, asked.0, asked.1)
        host.ledger.with { $0.consents.formUnion(entries) }
    }

    /// Returns the redirect with a code, or approves the device.
    private func finish(_ interaction: HostInteraction, _ signedIn: SignedIn, _ visit: Visit) -> Response {
        switch interaction.purpose {
        case .device(let userCode):
            host.with { $0.devices[userCode]?.decision = .approved(signedIn) }
            return .page(Pages.deviceDone)
        case .authorization(let request):
            let grant = HostGrant(
                signedIn: signedIn, clientID: request.client.id, scopes: request.scopes, nonce: request.nonce,
                resources: request.resources)
            let code = newSecret()
            host.with { state in
                state.codes = state.codes.filter { $0.value.expires > .now }
                state.codes[code] = HostCode(
                    grant: grant, redirectURI: request.target.uri, challenge: request.challenge)
            }
            return redirect([("code", code)], to: request.target, visit)
        }
    }

    private func answer(_ failure: HostFailure, to target: ReturnAddress, _ visit: Visit) -> Response {
        redirect(
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
