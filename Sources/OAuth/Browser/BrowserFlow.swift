import Addresses
import NIOHTTP1
import Secrets

/// Authorization code with PKCE in a browser (RFC 8252); the response arrives on a loopback port, or the user pastes
/// it.
///
/// There is no time limit for the user: the host decides when to end the flow.
struct BrowserFlow<Rules: AuthorityRules>: Sendable {
    let signIn: SignIn<Rules>
    let responseMode: AuthorizationRequest.ResponseMode
    /// The time limit for delivering the last page to the browser.
    private let lastPageLimit = Duration.seconds(2)

    /// Creates a flow that requests a posted response if the authority supports it, unless the user may have to paste
    /// it.
    init(_ signIn: SignIn<Rules>, mayBePasted: Bool = false) {
        self.signIn = signIn
        responseMode = signIn.client.postsAnswers && !mayBePasted ? .formPost : .query
    }

    /// The events that can occur while the browser is open.
    private enum Event: Sendable {
        case answered(AuthorizationResponse)
        case replied(UserReply)
        case pageShown
    }

    /// Signs the user in.
    ///
    /// - Parameter user: The user, who is asked to open the page.
    /// - Returns: The tokens, or `notHere` if no browser can be opened.
    /// - Throws: `cancelled` if the user declines in the host or at the authority, or the authority's refusal.
    func run(_ user: any SignInUser) async throws(OAuthError) -> FlowOutcome<Rules.Tokens> {
        let target = try signIn.redirect()
        guard target.isLoopback else { return try await PasteFlow(signIn: signIn).run(user) }
        return try await run(user, target, on: try await LoopbackListener.open(port: target.port))
    }

    /// Signs the user in with the response arriving on this listener, and closes the listener.
    func run(
        _ user: any SignInUser, _ target: RedirectURI, on listener: LoopbackListener
    ) async throws(OAuthError) -> FlowOutcome<Rules.Tokens> {
        let request = AuthorizationRequest(
            redirectURI: target.text(listeningAt: listener.port), responseMode: responseMode)
        do throws(OAuthError) {
            let url = try signIn.page(of: request)
            return try await run(request, url: url, listener: listener, path: target.path, user: user)
        } catch {
            await listener.close()
            throw error
        }
    }

    private func run(
        _ request: AuthorizationRequest, url: String, listener: LoopbackListener, path: String,
        user: any SignInUser
    ) async throws(OAuthError) -> FlowOutcome<Rules.Tokens> {
        let (events, happen) = AsyncStream.makeStream(of: Event.self)
        let page = LastPage()
        let catcher = RedirectCatcher(request: request, port: listener.port, path: path) { response in
            happen.yield(.answered(response))
            return await page.wait()
        }
        let outcome = await withTaskGroup(of: Void.self) { group -> Result<FlowOutcome<Rules.Tokens>, OAuthError> in
            defer { group.cancelAll() }
            group.addTask {
                await listener.serve(answer: { await catcher.answer($0) }) { shown in
                    if shown.isLast { happen.yield(.pageShown) }
                }
            }
            group.addTask {
                // A posted response isn't in the URL, so there is nothing to paste; the paste flow asks for a response
                // that is.
                let isInAddress = responseMode == .query
                happen.yield(
                    .replied(
                        await isInAddress
                            ? user.openToPaste(url, for: request)
                            : user.open(url, redirectURI: request.redirectURI)))
            }
            return await Result { () async throws(OAuthError) in
                try await conclude(events, of: request, page: page, user: user)
            }
        }
        return try outcome.get()
    }

    /// Waits for the event that decides the flow, and shows the browser the result.
    private func conclude(
        _ events: AsyncStream<Event>, of request: AuthorizationRequest, page: LastPage, user: any SignInUser
    ) async throws(OAuthError) -> FlowOutcome<Rules.Tokens> {
        for await event in events {
            switch event {
            case .answered(let response):
                // Here the host's time limit for the user ends, and the one for this plugin begins.
                await user.progress("the browser has returned; getting the tokens")
                let tokens = await Result { () async throws(OAuthError) in
                    try await signIn.tokens(for: response, to: request)
                }
                await page.set(lastPage(for: tokens))
                await waitUntilShown(events)
                return .signedIn(try tokens.get())
            case .replied(.done), .pageShown: continue
            case .replied(.pasted(let pasted)):
                return try await self.pasted(pasted, of: request, user: user)
            case .replied(.unavailable): return .notHere(OAuthError(.unsupported, "no browser can be opened here"))
            case .replied(.cancelled): throw .cancelled
            }
        }
        throw .ended
    }

    /// Handles a pasted URL.
    ///
    /// If it contains no response to this request, a posted response failed to arrive; the next request asks for the
    /// response in the URL.
    private func pasted(
        _ text: Secret, of request: AuthorizationRequest, user: any SignInUser
    ) async throws(OAuthError) -> FlowOutcome<Rules.Tokens> {
        let response = AuthorizationResponse(pasted: text)
        if response.isResponse, responseMode == .query || response.answers(state: request.state) {
            return .signedIn(try await signIn.tokens(for: response, to: request))
        }
        guard responseMode == .formPost else { throw .noAnswer }
        return try await PasteFlow(signIn: signIn).run(user)
    }

    private func lastPage(for tokens: Result<Rules.Tokens, OAuthError>) -> LoopbackPage {
        switch tokens {
        case .success(let tokens): signIn.rules.page(with: tokens)
        case .failure(let error): signIn.rules.page(after: error)
        }
    }

    private func waitUntilShown(_ events: AsyncStream<Event>) async {
        try? await withDeadline(lastPageLimit) {
            for await case .pageShown in events { return }
        }
    }
}

/// The page to show in the browser once the result of the sign-in is known.
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

    /// Returns the last page, or the page for an expired sign-in if the task is cancelled first.
    func wait() async -> LoopbackPage {
        if let page { return page }
        let (stream, continuation) = AsyncStream.makeStream(of: LoopbackPage.self)
        waiting.append(continuation)
        for await page in stream { return page }
        return .expired
    }
}

/// Tells the one response to an authorization request from any other request to the port.
struct RedirectCatcher: Sendable {
    let request: AuthorizationRequest
    let port: Int
    let path: String
    /// Gets the response and returns the page with the result; a repeated response gets the same page.
    let respond: @Sendable (AuthorizationResponse) async -> LoopbackPage

    func answer(_ incoming: LoopbackRequest) async -> LoopbackPage {
        guard isForUs(incoming.headers["host"]) else { return .wrongHost }
        let parts = incoming.target.pieces(between: "?", maxSplits: 1, omittingEmpty: false)
        guard parts.first.map(String.init) == path else { return .notHere }
        guard incoming.method == .POST else {
            return await answerAddress(parts.count == 2 ? parts[1] : "")
        }
        guard FormEncoding.isType(incoming.headers["content-type"].first) else { return .wrongType }
        guard let body = incoming.body else { return .tooLarge }
        return await check(AuthorizationResponse(form: body[...]))
    }

    /// Answers a response in the URL.
    ///
    /// If the authority was asked to post the response, a code in the URL is rejected; an error is accepted.
    private func answerAddress(_ query: Substring) async -> LoopbackPage {
        let response = AuthorizationResponse(form: query)
        if response.hasCode, request.responseMode == .formPost { return .codeInAddress }
        return response.isResponse ? await check(response) : .wrongMethod
    }

    private func check(_ response: AuthorizationResponse) async -> LoopbackPage {
        guard response.isResponse else { return .wrongType }
        guard response.answers(state: request.state) else { return .wrongState }
        return await respond(response)
    }

    private func isForUs(_ hosts: [String]) -> Bool {
        hosts.count == 1 && RequestHost(hosts[0])?.isThisMachine(at: port) ?? false
    }
}
