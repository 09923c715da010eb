public import Secrets

/// What a plugin asks of the person through the host; each gets exactly one reply (docs/plugin-protocol.md, EVENTS).
public enum PluginEvent: Sendable, Equatable {
    /// Open this page in the person's browser. `redirectURI` is where it will lead back to, if there is such a place.
    case openURL(url: String, redirectURI: String?)
    /// Show this code and the page it is to be typed at. `completeURI` is the page that has the code in it already, if
    /// the authority has one; `expiresIn` is in seconds.
    case showCode(
        userCode: String, verificationURI: String, completeURI: String? = nil, message: String, expiresIn: Int)
    /// Another program is about to ask the person in a window of its own; `program` is what it is called.
    case openWindow(program: String)
    /// Ask the person for a line of text.
    case prompt(kind: PromptKind, message: String)
    /// Tell the person what is happening; may be shown or not.
    case progress(message: String)

    /// How an answer is typed.
    public enum PromptKind: String, Sendable, CaseIterable {
        /// Echoed.
        case `public`
        /// Not echoed.
        case secret
        /// Yes or no; the answer is `yes` or `no`.
        case confirm
    }
}

/// The host's answer to an event.
public enum PluginReply: Sendable, Equatable {
    /// It was done: the browser was started, the code shown.
    case done
    /// To `open-url`: the person followed the link elsewhere and pasted where it led. May come minutes later.
    case redirected(Secret)
    /// To `prompt`: what was typed.
    case answer(Secret)
    /// Nobody is there, or it can't be done here: try another flow.
    case unsupported
    /// The person refuses.
    case cancelled
}
