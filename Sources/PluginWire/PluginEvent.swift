public import Secrets

/// A plugin's request to the user, made through the host; each gets exactly one reply (docs/plugin-protocol.md,
/// EVENTS).
public enum PluginEvent: Sendable, Equatable {
    /// Open this page in the user's browser; `redirectURI` is where it will redirect to, if known.
    case openURL(url: String, redirectURI: String?)
    /// Show this code and the page to enter it at.
    ///
    /// `completeURI` is the page with the code already filled in, if the authority has one; `expiresIn` is in seconds.
    case showCode(
        userCode: String, verificationURI: String, completeURI: String? = nil, message: String, expiresIn: Int)
    /// Another program is about to ask the user in its own window; `program` is its name.
    case openWindow(program: String)
    /// Ask the user for a line of text.
    case prompt(kind: PromptKind, message: String)
    /// Show a progress message; optional for the host.
    case progress(message: String)

    /// How the user types the answer.
    public enum PromptKind: String, Sendable, CaseIterable {
        /// With echo.
        case `public`
        /// Without echo.
        case secret
        /// As a yes or no; the answer is `yes` or `no`.
        case confirm
    }
}

/// The host's answer to an event.
public enum PluginReply: Sendable, Equatable {
    /// The event was handled: the browser was started, or the code was shown.
    case done
    /// For `open-url`: the user followed the link elsewhere and pasted the URL that it led to; this may take minutes.
    case redirected(Secret)
    /// For `prompt`: the typed text.
    case answer(Secret)
    /// Nobody is there, or this can't be done here; the plugin should try another flow.
    case unsupported
    /// The user declined.
    case cancelled
}
