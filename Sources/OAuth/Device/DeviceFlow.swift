import Addresses
import HTTP
import JSON
package import Secrets

/// Device authorization grant (RFC 8628): lanyard shows a code that the user types in a browser on any device.
struct DeviceFlow<Rules: AuthorityRules>: Sendable {
    private typealias Outcome = Result<FlowOutcome<Rules.Tokens>, OAuthError>

    let signIn: SignIn<Rules>

    /// Signs the user in.
    ///
    /// - Parameter user: The user, who is shown the code.
    /// - Returns: The tokens, or `notHere` if no code can be shown here or a policy forbids device codes.
    /// - Throws: `cancelled` if the user declines in the host or at the authority or lets the code expire, or the
    ///   authority's refusal.
    func run(_ user: any SignInUser) async throws(OAuthError) -> FlowOutcome<Rules.Tokens> {
        guard let endpoint = signIn.client.endpoints.deviceAuthorization else {
            return .notHere(OAuthError(.unsupported, "\(signIn.client.authority) offers no device codes"))
        }
        let code: DeviceAuthorization
        do throws(OAuthError) {
            code = try await signIn.client.deviceCode(from: endpoint)
        } catch {
            return try outcome(of: error)
        }
        let outcome = await withTaskGroup(of: Outcome?.self) { group -> Outcome in
            defer { group.cancelAll() }
            group.addTask { await show(code, to: user) }
            group.addTask { await Outcome { () async throws(OAuthError) in try await poll(code) } }
            for await case let outcome? in group { return outcome }
            return .failure(.ended)
        }
        return try outcome.get()
    }

    /// Returns the outcome if the code can't be shown; nil if it is.
    private func show(_ code: DeviceAuthorization, to user: any SignInUser) async -> Outcome? {
        switch await user.show(code) {
        case .done, .pasted: nil
        case .unavailable: .success(.notHere(OAuthError(.unsupported, "no code can be shown here")))
        case .cancelled: .failure(.cancelled)
        }
    }

    private func poll(_ code: DeviceAuthorization) async throws(OAuthError) -> FlowOutcome<Rules.Tokens> {
        var polling = DevicePolling(
            interval: code.interval, lifetime: code.expiresIn, waitsFirst: signIn.client.waitsBeforePolling)
        let tokens: TokenResponse
        do throws(OAuthError) {
            tokens = try await polling.run {
                try await Task.sleep(for: .seconds($0))
            } poll: { () async throws(OAuthError) in
                try await signIn.client.redeem(.deviceCode(code.deviceCode))
            }
        } catch {
            guard case .refused = error.kind else { throw error }
            return try outcome(of: error)
        }
        return .signedIn(try await signIn.rules.accept(tokens, nonce: nil))
    }

    private func outcome(of error: OAuthError) throws(OAuthError) -> FlowOutcome<Rules.Tokens> {
        guard signIn.rules.shouldTryNextFlow(after: error) else { throw error }
        return .notHere(error)
    }
}

extension OAuthClient {
    /// The form of a device authorization request (RFC 8628, 3.1).
    package var deviceAuthorizationRequest: [FormEncoding.Field] {
        credentials + scopeField + grantParameters + deviceParameters
    }

    /// Requests a device code; an unused code simply expires.
    ///
    /// - Throws: the authority's refusal, or `untrusted` if its page may be another authority's.
    package func deviceCode(from endpoint: String) async throws(OAuthError) -> DeviceAuthorization {
        let answer = try await post(endpoint, deviceAuthorizationRequest, headers: proof, .harmless)
        let code = try DeviceAuthorization(answer, from: authority)
        try code.check(from: endpoint, for: self)
        return code
    }
}

/// A bounded device authorization response (RFC 8628, 3.2).
package struct DeviceAuthorization: Sendable, Equatable {
    /// The device code for the token endpoint.
    package let deviceCode: Secret
    /// The code that the user types.
    package let userCode: String
    /// The https URL where the user types the code.
    package let verificationURI: String
    /// The URL that includes the code; nil if the authority has none, or if it isn't https at the other URL's host.
    package let completeURI: String?
    /// One sentence that tells the user what to do.
    package let message: String
    /// Seconds until the codes expire.
    package let expiresIn: Int
    /// Seconds between polls.
    let interval: Int

    /// Parses a response.
    ///
    /// - Throws: the authority's refusal, `unavailable` if the answer isn't a device authorization response, or
    ///   `broken` if the URL to show isn't https.
    init(_ answer: HTTPAnswer, from host: String) throws(OAuthError) {
        if let refusal = ErrorResponse(answer) ?? ErrorResponse(unnamed: answer) {
            throw OAuthError(refusal, at: .device)
        }
        guard answer.status != 404 else {
            throw OAuthError(
                .notFound, "\(host) offers no device codes", hint: "check the client ID, or give --flow browser")
        }
        guard (200..<300).contains(answer.status), let members = answer.json?.members,
            let page = members["verification_uri"]?.string ?? members["verification_url"]?.string,
            let typed = members["user_code"]?.string, let polled = members["device_code"]?.string
        else {
            throw .unreadable(from: host, not: "a device code (HTTP \(answer.status))")
        }
        guard let place = StrictURL(https: page)?.host else {
            throw OAuthError(.broken, "\(host) names a sign-in page that is not https")
        }
        guard let code = typed.plain(limit: 64) else {
            throw OAuthError(.broken, "\(host) returned a code that can't be typed")
        }
        deviceCode = Secret(polled)
        userCode = code
        verificationURI = page
        // The picture must not lead anywhere but to the host that is shown.
        completeURI = members["verification_uri_complete"]?.string.flatMap {
            StrictURL(https: $0)?.host == place ? $0 : nil
        }
        message =
            members["message"]?.string?.displayable()
            ?? "To sign in, open \(page.displayable(limit: 200)) and enter the code \(userCode)"
        expiresIn = min(max(members["expires_in"]?.boundedNumber ?? 900, 1), 3_600)
        interval = min(max(members["interval"]?.boundedNumber ?? 5, 1), 300)
    }
}

/// The schedule for polling the token endpoint (RFC 8628, 3.4 and 3.5).
struct DevicePolling: Sendable {
    /// Seconds between polls; it grows if the authority asks for that or can't be reached.
    private(set) var interval: Int
    /// Seconds until the code expires.
    let lifetime: Int
    /// Whether to wait before the first poll, too.
    let waitsFirst: Bool

    /// Whether polling continues after a refusal: true if the user simply hasn't finished yet.
    mutating func goesOn(after refusal: ErrorResponse) -> Bool {
        switch refusal.error {
        case "authorization_pending": return true
        case "slow_down":
            interval = min(max(interval + 5, refusal["interval"]?.boundedNumber ?? 0), 300)
            return true
        default: return false
        }
    }

    /// Polls until there are tokens.
    ///
    /// - Parameters:
    ///   - sleep: Waits for this number of seconds; throws if the task is cancelled.
    ///   - poll: Polls once.
    /// - Returns: The tokens.
    /// - Throws: `cancelled` if the code expires or the task is cancelled, or the error after which polling is pointless.
    mutating func run(
        sleep: (Int) async throws -> Void, poll: () async throws(OAuthError) -> TokenResponse
    ) async throws(OAuthError) -> TokenResponse {
        var waited = 0
        var waits = waitsFirst
        while true {
            if waits {
                guard waited + interval <= lifetime else { throw .codeExpired }
                do { try await sleep(interval) } catch { throw .ended }
                waited += interval
            }
            waits = true
            do throws(OAuthError) { return try await poll() } catch { try goOn(after: error) }
        }
    }

    /// Adapts the interval to a poll's error, or throws the error if polling doesn't continue after it.
    private mutating func goOn(after error: OAuthError) throws(OAuthError) {
        switch error.kind {
        case .refused(let refusal, _):
            guard goesOn(after: refusal) else { throw error }
        case .unavailable, .throttled:
            // Servers that don't answer are polled half as often (RFC 8628, 3.5).
            interval = min(max(error.wasAnswered ? interval : interval * 2, error.retryAfter ?? 0), 300)
        default: throw error
        }
    }
}
