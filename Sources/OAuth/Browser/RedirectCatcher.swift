import Addresses
import NIOHTTP1

/// Tells the one response to an authorization request from any other request to the port.
struct RedirectCatcher: Sendable {
    let request: AuthorizationRequest
    let port: Int
    let path: String
    /// Takes the response and returns the page with the result; a repeated response gets the same page.
    let take: @Sendable (AuthorizationResponse) async -> LoopbackPage

    func answer(_ incoming: LoopbackRequest) async -> LoopbackPage {
        guard isForUs(incoming.headers["host"]) else { return .wrongHost }
        let parts = incoming.target.pieces(between: "?", maxSplits: 1, omittingEmpty: false)
        guard parts.first.map(String.init) == path else { return .notHere }
        guard incoming.method == .POST else {
            return await answerAddress(parts.count == 2 ? parts[1] : "")
        }
        guard FormEncoding.isType(incoming.headers["content-type"].first) else { return .wrongType }
        guard let body = incoming.body else { return .tooLarge }
        return await judge(AuthorizationResponse(form: body[...]))
    }

    /// Answers a response in the URL.
    ///
    /// If the authority was asked to post the response, a code in the URL is rejected; an error is accepted.
    private func answerAddress(_ query: Substring) async -> LoopbackPage {
        let response = AuthorizationResponse(form: query)
        if response.hasCode, request.responseMode == .formPost { return .codeInAddress }
        return response.isResponse ? await judge(response) : .wrongMethod
    }

    private func judge(_ response: AuthorizationResponse) async -> LoopbackPage {
        guard response.isResponse else { return .wrongType }
        guard response.answers(state: request.state) else { return .wrongState }
        return await take(response)
    }

    private func isForUs(_ hosts: [String]) -> Bool {
        hosts.count == 1 && RequestHost(hosts[0])?.isThisMachine(at: port) ?? false
    }
}
