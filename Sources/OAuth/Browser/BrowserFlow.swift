import Secrets

/// Authorization code with PKCE in a browser (RFC 8252), the answer sent to a loopback port or pasted by the person.
///
/// How long the person may take is the host's to say: it ends the flow.
struct BrowserFlow<Rules: AuthorityRules>: Sendable {
    let signIn: SignIn<Rules>
    /// How the answer comes back.
    let responseMode: AuthorizationRequest.ResponseMode
    /// How long the last page may take to get to the browser.
    private let lastPageLimit = Duration.seconds(2)

    /// A flow whose answer is posted if it can be, unless the person may have to paste it.
    init(_ signIn: SignIn<Rules>, mayBePasted: Bool = false) {
        self.signIn = signIn
        responseMode = signIn.client.postsAnswers && !mayBePasted ? .formPost : .query
    }

    /// What may happen while the browser is open.
    private enum Event: Sendable {
        case answered(AuthorizationResponse)
        case replied(PersonReply)
        case pageShown
    }

    /// Signs the person in.
    ///
    /// - Parameter person: asked to open the page.
    /// - Returns: the tokens, or that no browser can be opened here.
    /// - Throws: `cancelled` if the person refuses here or there, and what the authority refuses with.
    func run(_ person: any Person) async throws(OAuthError) -> FlowOutcome<Rules.Tokens> {
        let target = try RedirectTarget(signIn.client.redirectURI)
        guard target.isLoopback else { return try await PasteFlow(signIn: signIn).run(person) }
        return try await run(person, target, on: try await LoopbackListener.open(port: target.port))
    }

    /// Signs the person in, the answer coming to this listener, which is closed in the end.
    func run(
        _ person: any Person, _ target: RedirectTarget, on listener: LoopbackListener
    ) async throws(OAuthError) -> FlowOutcome<Rules.Tokens> {
        let request = AuthorizationRequest(redirectURI: target.uri(port: listener.port), responseMode: responseMode)
        do throws(OAuthError) {
            let url = try signIn.page(of: request)
            return try await run(request, url: url, listener: listener, path: target.path, person: person)
        } catch {
            await listener.close()
            throw error
        }
    }

    private func run(
        _ request: AuthorizationRequest, url: String, listener: LoopbackListener, path: String,
        person: any Person
    ) async throws(OAuthError) -> FlowOutcome<Rules.Tokens> {
        let (events, happen) = AsyncStream.makeStream(of: Event.self)
        let page = LastPage()
        let catcher = RedirectCatcher(request: request, port: listener.port, path: path) { response in
            happen.yield(.answered(response))
            return await page.wait()
        }
        let outcome = await withTaskGroup(of: Void.self) { group -> Result<FlowOutcome<Rules.Tokens>, OAuthError> in
            group.addTask {
                await listener.serve(answer: { await catcher.answer($0) }) { shown in
                    if shown.isLast { happen.yield(.pageShown) }
                }
            }
            group.addTask {
                // A posted answer is in no address; what is pasted instead is asked for by another flow.
                let isInAddress = responseMode == .query
                happen.yield(
                    .replied(
                        await isInAddress
                            ? person.openToPaste(url, for: request)
                            : person.open(url, redirectURI: request.redirectURI)))
            }
            let outcome = await conclude(events, of: request, page: page, person: person)
            group.cancelAll()
            return outcome
        }
        return try outcome.get()
    }

    /// Waits for whatever decides the flow, and tells the browser how it went.
    private func conclude(
        _ events: AsyncStream<Event>, of request: AuthorizationRequest, page: LastPage, person: any Person
    ) async -> Result<FlowOutcome<Rules.Tokens>, OAuthError> {
        for await event in events {
            switch event {
            case .answered(let response):
                // The host's patience with the person ends here, and the one with this plugin begins.
                await person.progress("the browser has returned; getting the tokens")
                let outcome = await redeem(response, of: request)
                await page.set(lastPage(for: outcome))
                await waitUntilShown(events)
                return outcome
            case .replied(.done), .pageShown: continue
            case .replied(.pasted(let pasted)):
                return await self.pasted(pasted, of: request, person: person)
            case .replied(.unavailable):
                return .success(.notHere(OAuthError(.unsupported, "no browser can be opened here")))
            case .replied(.cancelled): return .failure(.cancelled)
            }
        }
        return .failure(.ended)
    }

    private func redeem(
        _ response: AuthorizationResponse, of request: AuthorizationRequest
    ) async -> Result<FlowOutcome<Rules.Tokens>, OAuthError> {
        do throws(OAuthError) {
            return .success(.signedIn(try await signIn.redeem(response, of: request)))
        } catch {
            return .failure(error)
        }
    }

    /// A pasted address that carries no answer to this request is where a posted one failed to arrive: the next one is asked for in
    /// the address.
    private func pasted(
        _ text: Secret, of request: AuthorizationRequest, person: any Person
    ) async -> Result<FlowOutcome<Rules.Tokens>, OAuthError> {
        let response = AuthorizationResponse(pasted: text)
        do throws(OAuthError) {
            if response.isResponse, responseMode == .query || response.answers(state: request.state) {
                return .success(.signedIn(try await signIn.redeem(response, of: request)))
            }
            guard responseMode == .formPost else { throw OAuthError.noAnswer }
            return .success(try await PasteFlow(signIn: signIn).run(person))
        } catch {
            return .failure(error)
        }
    }

    private func lastPage(for outcome: Result<FlowOutcome<Rules.Tokens>, OAuthError>) -> LoopbackPage {
        switch outcome {
        case .success(.signedIn(let tokens)): signIn.rules.page(with: tokens)
        case .success(.notHere(let error)): signIn.rules.page(after: error)
        case .failure(let error): signIn.rules.page(after: error)
        }
    }

    private func waitUntilShown(_ events: AsyncStream<Event>) async {
        try? await withDeadline(lastPageLimit) {
            for await case .pageShown in events { return }
        }
    }
}

/// The page that the browser gets when it is known how the sign-in went.
private actor LastPage {
    private var page: LoopbackPage?
    private var waiting: [AsyncStream<LoopbackPage>.Continuation] = []

    func set(_ page: LoopbackPage) {
        self.page = page
        for continuation in waiting {
            continuation.yield(page)
            continuation.finish()
        }
        waiting.removeAll()
    }

    /// Ends with the page for what is over if the task is cancelled before.
    func wait() async -> LoopbackPage {
        if let page { return page }
        let (stream, continuation) = AsyncStream.makeStream(of: LoopbackPage.self)
        waiting.append(continuation)
        for await page in stream { return page }
        return .expired
    }
}
