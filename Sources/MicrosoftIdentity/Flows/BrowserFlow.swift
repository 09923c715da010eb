import PluginKit
import PluginWire
import Secrets

/// Authorization code with PKCE in a browser (RFC 8252), the answer sent to a loopback port or pasted by the person.
///
/// How long the person may take is the host's to say: it ends the flow.
struct BrowserFlow: Sendable {
    /// How long the last page may take to get to the browser.
    private static let lastPage = Duration.seconds(2)

    let session: AuthoritySession
    /// How the answer comes back: posted, unless the person may have to paste it.
    var responseMode = AuthorizationRequest.ResponseMode.formPost
    /// The page that the browser ends at where all went well.
    var success = LoopbackPage.success

    /// What may happen while the browser is open.
    private enum Event: Sendable {
        case answered(AuthorizationResponse)
        case replied(PluginReply)
        case pageShown
    }

    /// Signs the person in.
    ///
    /// - Parameter person: asked to open the page.
    /// - Returns: the tokens, or that no browser can be opened here.
    /// - Throws: `cancelled` where the person refuses here or there, and what the authority refuses with.
    func run(_ person: any Conversation) async throws(PluginError) -> FlowOutcome {
        let target = try RedirectTarget(session.request.redirectURI)
        guard target.isLoopback else { return try await PasteFlow(session: session).run(person) }
        return try await run(person, target, on: try await LoopbackListener.open(port: target.port))
    }

    /// Signs the person in, the answer coming to this listener, which is closed in the end.
    func run(
        _ person: any Conversation, _ target: RedirectTarget, on listener: LoopbackListener
    ) async throws(PluginError) -> FlowOutcome {
        let request = AuthorizationRequest(redirectURI: target.uri(port: listener.port), responseMode: responseMode)
        do throws(PluginError) {
            let url = try request.url(
                at: session.configuration.authorizationEndpoint, for: session.request, claims: session.claims)
            return try await run(request, url: url, listener: listener, path: target.path, person: person)
        } catch {
            await listener.close()
            throw error
        }
    }

    private func run(
        _ request: AuthorizationRequest, url: String, listener: LoopbackListener, path: String,
        person: any Conversation
    ) async throws(PluginError) -> FlowOutcome {
        let (events, happen) = AsyncStream.makeStream(of: Event.self)
        let page = LastPage()
        let catcher = RedirectCatcher(request: request, port: listener.port, path: path) { response in
            happen.yield(.answered(response))
            return await page.wait()
        }
        let outcome = await withTaskGroup(of: Void.self) { group -> Result<FlowOutcome, PluginError> in
            group.addTask {
                await listener.serve(answer: { await catcher.answer($0) }) { shown in
                    if shown.isLast { happen.yield(.pageShown) }
                }
            }
            group.addTask {
                let opening = PluginEvent.openURL(url: url, redirectURI: request.redirectURI)
                // A posted answer is in no address; what is pasted instead is asked for by another flow.
                let isInAddress = responseMode == .query
                happen.yield(
                    .replied(await isInAddress ? person.askToPaste(opening, for: request) : person.ask(opening)))
            }
            let outcome = await conclude(events, of: request, page: page, person: person)
            group.cancelAll()
            return outcome
        }
        return try outcome.get()
    }

    /// Waits for whatever decides the flow, and tells the browser how it went.
    private func conclude(
        _ events: AsyncStream<Event>, of request: AuthorizationRequest, page: LastPage, person: any Conversation
    ) async -> Result<FlowOutcome, PluginError> {
        for await event in events {
            switch event {
            case .answered(let response):
                // The host's patience with the person ends here, and the one with this plugin begins.
                await person.progress("the browser is back; getting the tokens")
                let outcome = await redeem(response, of: request)
                await page.set(lastPage(for: outcome))
                await Self.waitUntilShown(events)
                return outcome
            case .replied(.done), .replied(.answer), .pageShown: continue
            case .replied(.redirected(let pasted)):
                return await self.pasted(pasted, of: request, person: person)
            case .replied(.unsupported):
                return .success(.notHere(PluginError(.unsupported, "no browser can be opened here")))
            case .replied(.cancelled): return .failure(PluginError(.cancelled, "the sign-in was cancelled"))
            }
        }
        return .failure(PluginError(.cancelled, "the sign-in was ended"))
    }

    private func redeem(
        _ response: AuthorizationResponse, of request: AuthorizationRequest
    ) async -> Result<FlowOutcome, PluginError> {
        do throws(PluginError) {
            return .success(.signedIn(try await CodeRedemption(session: session).redeem(response, of: request)))
        } catch {
            return .failure(error)
        }
    }

    /// A pasted address that carries no answer to this request is where a posted one failed to arrive: the next one is asked for in
    /// the address.
    private func pasted(
        _ text: Secret, of request: AuthorizationRequest, person: any Conversation
    ) async -> Result<FlowOutcome, PluginError> {
        let response = AuthorizationResponse(pasted: text)
        do throws(PluginError) {
            if response.isResponse, responseMode == .query || response.answers(state: request.state) {
                return .success(.signedIn(try await CodeRedemption(session: session).redeem(response, of: request)))
            }
            guard responseMode == .formPost else { throw PasteFlow.noAnswer }
            return .success(try await PasteFlow(session: session).run(person))
        } catch {
            return .failure(error)
        }
    }

    private func lastPage(for outcome: Result<FlowOutcome, PluginError>) -> LoopbackPage {
        switch outcome {
        case .success: success
        case .failure(let error) where session.resetsPassword(after: error): .forgottenPassword
        case .failure(let error) where error.code == .cancelled: .declined
        case .failure(let error): Self.expired.isDisjoint(with: error.errorCodes) ? .failure : .expired
        }
    }

    /// The sign-in's page was left open for too long, or its code came back too late.
    private static let expired: Set<Int> = [50_089, 70_008]

    private static func waitUntilShown(_ events: AsyncStream<Event>) async {
        try? await withDeadline(lastPage) {
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

    /// Ends with the page for what is over where the task is cancelled before.
    func wait() async -> LoopbackPage {
        if let page { return page }
        let (stream, continuation) = AsyncStream.makeStream(of: LoopbackPage.self)
        waiting.append(continuation)
        for await page in stream { return page }
        return .expired
    }
}
