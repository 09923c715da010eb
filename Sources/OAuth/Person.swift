package import Secrets

/// The user who signs in, as far as a flow can reach them.
package protocol Person: Sendable {
    /// Opens a page in the user's browser; the browser returns to the redirect URI.
    ///
    /// The reply may take as long as the sign-in. A flow that no longer needs it cancels the task.
    func open(_ url: String, redirectURI: String) async -> PersonReply

    /// Shows a code and the page to type it at.
    func show(_ code: DeviceAuthorization) async -> PersonReply

    /// Reports progress.
    func progress(_ message: String) async
}

/// The result of asking the user.
package enum PersonReply: Sendable, Equatable {
    /// The page was opened, or the code shown.
    case done
    /// The final URL in the browser, pasted by the user.
    case pasted(Secret)
    /// Nobody is there, or it isn't possible here.
    case unavailable
    /// The user declined.
    case cancelled
}
