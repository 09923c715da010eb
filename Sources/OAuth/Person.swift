package import Secrets

/// Who signs in, as far as a flow reaches them.
package protocol Person: Sendable {
    /// Has a page opened in the person's browser, which comes back to the redirect URI.
    ///
    /// The reply may take as long as the sign-in does; a flow that needs it no longer cancels the task.
    func open(_ url: String, redirectURI: String) async -> PersonReply

    /// Shows a code and the page that it is typed at.
    func show(_ code: DeviceAuthorization) async -> PersonReply

    /// Tells what is happening.
    func progress(_ message: String) async
}

/// What came of asking a person.
package enum PersonReply: Sendable, Equatable {
    /// The page was opened, the code shown.
    case done
    /// The address that the browser ended at.
    case pasted(Secret)
    /// Nobody is there, or it can't be done here.
    case unavailable
    /// The person refuses.
    case cancelled
}
