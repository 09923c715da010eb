public import Forwarding
import PluginWire
public import Rules
public import TokenAcquisition
public import TokenStore

/// Why the engine has no credential.
public enum Refusal: Error, Sendable {
    /// The request names neither a place nor a token: this part is missing, and what is absent is no wildcard.
    case noPlace(missing: Part)
    /// The settings can't be read; the error is of whoever reads them.
    case settings(any Error)
    /// The request needs a token that can't be had.
    case unresolved(ResolutionError)
    /// There is no token for this request; with its place, if it is for one.
    case noToken(AcquisitionError, TokenRequest, place: String?)
    /// What there is for this place has several parts, of these names, and whoever asks can't use such a credential.
    case severalParts([String], place: String?)
    /// There is no password to be forgotten.
    case noPassword
    /// The keyring can't be used now; what it holds is untouched.
    case store(StoreError)

    /// The agent that is asked instead of this machine's keyring can't be asked; with its socket.
    case agent(AgentSocket.Problem, socket: String)
    /// The agent refuses, for a reason that it has put into words.
    case forwarded(ForwardedRefusal)
    /// What is asked for is more than an agent is asked: a token by more than its place.
    case notForwarded
    /// What is to be stored or removed would be where the agent runs.
    case keptElsewhere

    /// A part of a URL.
    public enum Part: Sendable {
        /// `https`, or another.
        case scheme
        case host
    }

    /// Where it lies, as far as consumers do something about it.
    public enum Cause: Sendable {
        /// In the keyring, which can't be used now.
        case keyring
        /// In the person, who said no or gave no answer.
        case person
        /// In the authority, which can't be reached or has too much to do now.
        case authority
        /// Anywhere else.
        case other
    }

    /// Where it lies.
    public var cause: Cause {
        switch self {
        case .store: .keyring
        // An identity was named to get the token: nobody else's answer would be that.
        case .noToken(.store, let request, _): request.identity == nil ? .keyring : .other
        case .forwarded(let refusal) where refusal.code == .keyring: .keyring
        case .forwarded(let refusal) where refusal.code == .person: .person
        case .forwarded(let refusal) where refusal.code == .authority: .authority
        case .noToken(.noAccountChosen, _, _): .person
        case .noToken(.plugin(let error, _), _, _) where error.code == .cancelled: .person
        case .noToken(.plugin(let error, _), _, _) where [.unavailable, .throttled].contains(error.code): .authority
        default: .other
        }
    }

    /// Whether another source may well have what is asked for: tools are told that there is nothing here.
    public var isAbstention: Bool {
        if case .forwarded(let refusal) = self { refusal.code == .notAllowed } else { false }
    }

    /// Whether the keyring is locked, and the person may unlock it.
    public var isLockedKeyring: Bool {
        switch self {
        case .store(let error), .noToken(.store(let error), _, _): error.reason == .locked
        default: false
        }
    }
}
