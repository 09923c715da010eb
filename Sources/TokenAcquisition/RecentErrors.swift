import AnswerCache
import JSON
import Keyring
import Model
import PluginWire
import Secrets

/// Recent failures of renewals, shared by all of the user's processes.
///
/// Three kinds are recorded, none with a secret or a user name:
///
/// - If an authority says how long to wait, or that there were too many requests, no process asks it for that
///   application until then. The next process has no memory of its own that would keep it from asking again (RFC 9110,
///   10.2.3; RFC 6585, 4).
/// - A renewal that failed counts as failed for all processes that waited for it, and for a few seconds more if the
///   authority couldn't be reached: if sixty-four processes need a token, only one has to find out that there is none.
/// - If only the user can help, the refresh token isn't redeemed again for a minute: an editor that fetches in the
///   background would ask the authority each time.
struct RecentErrors: Sendable {
    /// Seconds to wait if an authority doesn't say, and the longest wait that it can impose; the values are MSAL's.
    static let usualWait = 60
    static let longestWait = 3600
    /// Seconds for which an authority that couldn't be reached isn't asked again.
    static let pause = 3
    /// Seconds for which a refresh token isn't redeemed that needs the user beside it.
    static let usersTurn = 60
    /// Seconds for which an invalid request is not repeated.
    static let rest = 600

    let notes: SharedNotes

    /// The names under which the failures of a request are filed.
    struct Key: Sendable {
        /// The authority's environment and the client, which are throttled together.
        var throttle: String
        /// Everything that makes two renewals the same.
        var renewal: String

        /// Creates the key; `variables` are those passed to a plugin, which select a machine's endpoint or prove an
        /// application's identity.
        init(
            _ request: TokenRequest, _ place: AuthorityKey, account: AccountRecord?, variables: [PluginField] = []
        ) {
            let client = [place.environment.lowercased(), request.clientID] + Self.digest(variables)
            let who = account?.homeAccountID ?? request.account ?? request.userHint ?? ""
            throttle = (["throttle"] + client).joined(separator: "\n")
            renewal =
                (["renewal"] + client + [request.authority, who.lowercased()]
                + [request.scopes.sorted().joined(separator: " "), request.resourceKey ?? "", request.claims ?? ""]
                + (request.identity?.proof ?? [])).joined(separator: "\n")
        }

        private static func digest(_ variables: [PluginField]) -> [String] {
            guard !variables.isEmpty else { return [] }
            return [variables.map { "\($0.name)=\($0.value.reveal())" }.joined(separator: "\0").shortDigest]
        }
    }

    /// The current time, in milliseconds since this computer was started.
    var now: Int { SharedNotes.milliseconds }

    /// Returns why a renewal that was requested at `asked` need not be tried, or not with this refresh token; nil if it
    /// may be.
    func failure(_ key: Key, since asked: Int, by token: Secret? = nil) -> PluginError? {
        let now = now
        if let note = note(about: key.throttle), note.until > now, note.until - now <= Self.longestWait * 1000 {
            var error = note.error
            error.retryAfter = (note.until - now + 999) / 1000
            return error
        }
        guard let note = note(about: key.renewal), note.at <= now else { return nil }
        let longest =
            switch note.error.code {
            case .invalidRequest: Self.rest
            case .interactionRequired: token.map { note.tokens.contains($0.fingerprint) } == true ? Self.usersTurn : 0
            default: Self.pause
            }
        guard note.at >= asked || (note.until > now && note.until - now <= longest * 1000) else { return nil }
        return note.error
    }

    /// Returns why the user isn't asked any more, if they cancelled while this process waited for its turn; else nil.
    func cancellation(_ key: Key, since asked: Int) -> PluginError? {
        guard let note = note(about: key.renewal), note.error.code == .cancelled else { return nil }
        return note.at >= asked && note.at <= now ? note.error : nil
    }

    /// Records a failure, and returns it with the time to wait, if that is known.
    ///
    /// If `lasts` is true, an invalid request counts as failed for ten minutes. `tokens` are the refresh tokens that were
    /// of no use.
    func noted(_ error: PluginError, _ key: Key, lasts: Bool = false, of tokens: Set<Secret> = []) -> PluginError {
        // Interrupting one process must not fail the others.
        guard error != .interrupted else { return error }
        var error = error
        let at = now
        if error.code == .throttled || (error.code == .unavailable && error.retryAfter != nil) {
            let wait = min(max(error.retryAfter ?? Self.usualWait, 1), Self.longestWait)
            error.retryAfter = wait
            notes.write(ErrorNote(error: error, at: at, until: at + wait * 1000).json, about: key.throttle)
        } else {
            let seconds =
                switch error.code {
                case .unavailable: Self.pause
                case .invalidRequest: lasts ? Self.rest : 0
                case .interactionRequired: Self.usersTurn
                default: 0
                }
            var note = ErrorNote(error: error, at: at, until: at + seconds * 1000)
            if error.code == .interactionRequired { note.tokens = tokens.map(\.fingerprint) }
            notes.write(note.json, about: key.renewal)
        }
        return error
    }

    /// Forgets the failures once a token was acquired.
    func forget(_ key: Key) {
        notes.remove(about: key.throttle)
        notes.remove(about: key.renewal)
    }

    private func note(about key: String) -> ErrorNote? { notes.note(about: key).flatMap(ErrorNote.init) }
}

extension Identity {
    /// The fields that distinguish an identity's proof from others of the same client: if one is refused, the others
    /// may still work.
    fileprivate var proof: [String] {
        switch application?.proof {
        case .secret(.keyring): ["secret"]
        case .secret(.variable(let name)): ["secret", name]
        case .certificate(let path, _): ["certificate", path]
        case .assertion(let source): ["assertion", source]
        case .subject(let source, _): ["subject", source]
        case nil: []
        }
    }
}

/// A failure as it is written to a file.
private struct ErrorNote {
    var error: PluginError
    /// When it happened, and until when it keeps others from trying, in milliseconds since this computer was started.
    var at: Int
    var until: Int
    /// The fingerprints of the refresh tokens that don't help.
    var tokens: [String] = []
}

extension ErrorNote {
    init?(_ json: JSONValue) {
        guard let at = json["at"]?.wholeNumber, let until = json["until"]?.wholeNumber,
            let error = json.members.flatMap(PluginError.init(members:))
        else { return nil }
        self.init(error: error, at: at, until: until, tokens: json["tokens"]?.elements.compactMap(\.string) ?? [])
    }

    var json: JSONValue {
        .object(
            error.members(message: message)
                .merging([
                    "at": .integer(Int64(at)), "until": .integer(Int64(until)),
                    "tokens": .array(tokens.map(JSONValue.string)),
                ]) { $1 })
    }

    /// The message; of the authority's own text, which may name the user, only the codes.
    private var message: String {
        guard let name = error.error else { return error.message }
        let codes = (error.errorCodes.isEmpty ? [name] : error.errorCodes).joined(separator: ", ")
        return switch error.code {
        case .cancelled: "the sign-in was cancelled (\(codes))"
        case .throttled: "the authority asked to wait a moment ago (\(codes))"
        case .unavailable: "the authority had an error a moment ago (\(codes))"
        default: "the authority refuses: \(codes)"
        }
    }
}
