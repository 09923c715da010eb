public import Forwarding
public import Keyring
public import Model
import PluginWire
public import Rules
public import TokenAcquisition

/// The reason why the engine has no credential.
public indirect enum EngineError: Error, Sendable {
    /// The request names neither a place nor a token: this part is missing, and a missing part isn't a wildcard.
    case noPlace(missing: Part)
    /// The settings can't be read; the error comes from their reader.
    case settings(any Error)
    /// The request needs a token that isn't available.
    case unresolved(ResolutionError)
    /// There is no token for this request; `place` is the URL that it is for, if any.
    case noToken(AcquisitionError, TokenRequest, place: String?)
    /// The credential for this place has several named parts, and the tool can't use such a credential.
    case severalParts([String], place: String?)
    /// The secret to store for this place is a token of lanyard's own, which is no password.
    case ownToken(place: String?)
    /// There is no such password to erase.
    case noPassword
    /// The keyring can't be used now; its content is untouched.
    case store(KeyringError)

    /// The agent, which replaces this machine's keyring, can't be reached at this socket.
    case agent(AgentError, socket: String)
    /// The agent refuses, for a reason that it has put into words.
    case forwarded(ForwardedRefusal)
    /// The request specifies a token by more than its place, which agents don't support.
    case notForwarded
    /// The credential would have to be stored or removed on the agent's machine.
    case keptElsewhere

    /// A part of a URL.
    public enum Part: Sendable {
        /// A scheme such as `https`.
        case scheme
        case host
    }

    /// The cause, as far as tools act on it.
    public var cause: Refusal.Cause {
        switch self {
        case .store: .keyring
        // The request names an identity to get the token with, so another source's answer would be a different one.
        case .noToken(.store, let request, _): request.identity == nil ? .keyring : .other
        case .forwarded(let refusal) where refusal.code == .keyring: .keyring
        case .forwarded(let refusal) where refusal.code == .user: .user
        case .forwarded(let refusal) where refusal.code == .authority: .authority
        case .noToken(.noAccountChosen, _, _): .user
        case .noToken(.plugin(let error, _), _, _) where error.code == .cancelled: .user
        case .noToken(.plugin(let error, _), _, _) where [.unavailable, .throttled].contains(error.code): .authority
        case .noToken(.busy(_, let work), _, _) where work != .signIn: .authority
        default: .other
        }
    }

    /// Whether another source may well have the credential, so that the tool gets an empty answer rather than an error.
    public var isAbstention: Bool {
        if case .forwarded(let refusal) = self { refusal.code == .notAllowed } else { false }
    }

    /// Whether it comes of what a rule names as its source, which is nobody's business but the user's, as is why it failed.
    public var isOfSource: Bool {
        if case .noToken(_, let request, _) = self { request.source != nil } else { false }
    }

    /// Whether no other source may answer instead: a rule maps the URL, or whether one does can't be known.
    public var isFinal: Bool {
        switch self {
        // Only stored passwords need the keyring without a token.
        case .noPlace, .store: false
        default: !isAbstention
        }
    }

    /// Whether the user may unlock the keyring, or have the first one made for a token, with a password.
    public var opensWithPassword: Bool {
        switch self {
        case .store(let error): error.reason == .locked && error.opensWithPassword
        case .noToken(.store(let error), _, _): error.opensWithPassword
        default: false
        }
    }
}
