import FoundationEssentials
import Hummingbird
import Synchronization

/// What a client asks the authority or a host for.
protocol ClientRequest: Sendable {
    /// The ID of the client.
    var clientID: String { get }
    /// Where the response goes; nil if a device asks, which polls for it.
    var target: ReturnAddress? { get }
    /// The values of the `prompt` parameter.
    var prompts: Set<String> { get }
}

/// The state of the authority or a host: sessions, codes, tokens and consent.
final class Ledger<Request: ClientRequest>: Sendable {
    struct State: Sendable {
        var sessions: [String: [SignedIn]] = [:]
        var interactions: [String: Interaction] = [:]
        var codes: [String: Code] = [:]
        var refreshTokens: [String: RefreshToken] = [:]
        /// The hosts' access tokens; Entra's are only signed.
        var accessTokens: [String: AccessToken] = [:]
        /// Pending devices by user code.
        var devices: [String: Device] = [:]
        var consents: Set<String> = []

        /// Revokes all tokens of one sign-in.
        mutating func end(lineage: String) {
            refreshTokens = refreshTokens.filter { $0.value.grant.lineage != lineage }
            endAccess(lineage: lineage)
        }

        mutating func endAccess(lineage: String) {
            accessTokens = accessTokens.filter { $0.value.grant.lineage != lineage }
        }
    }

    /// A user's grant to a client, on which all tokens of one sign-in are based.
    struct Grant: Sendable {
        var request: Request
        var signedIn: SignedIn
        /// The ID shared by all tokens of one sign-in.
        var lineage = newSecret(bytes: 16)

        var cameFromDevice: Bool { request.target == nil }
    }

    /// An authorization code: it can be used once, for a short time, with its verifier.
    struct Code: Sendable {
        static var lifetime: TimeInterval { 300 }

        var grant: Grant
        var expires = Date.now.addingTimeInterval(lifetime)
        var isRedeemed = false

        var redirectURI: String? { grant.request.target?.uri }
    }

    struct RefreshToken: Sendable {
        var grant: Grant
        /// Whether the token has been replaced by another one; using it again revokes the whole sign-in (RFC 9700, 4.14.2).
        var isSpent = false
        var isRevoked = false
    }

    struct AccessToken: Sendable {
        var grant: Grant
        /// The scopes of this token, which a renewal may have narrowed.
        var scopes: [String]
        /// When the token expires; nil if it doesn't.
        var expires: Date?

        var isAlive: Bool { expires.map { $0 > .now } ?? true }
    }

    /// A device that waits for a user's approval on another device (RFC 8628).
    struct Device: Sendable {
        let deviceCode: String
        let request: Request
        let expires: Date
        var polling: Polling
        var decision = DeviceDecision.pending
    }

    /// A sign-in in progress.
    struct Interaction: Sendable {
        let request: Request
        /// The user code of the device to approve; nil unless one asks.
        var userCode: String?
        var signedIn: SignedIn?
        /// Whether the user requested the sign-in page instead of picking an account.
        var wantsOtherAccount = false
        var hasConsented = false
        /// Whether the user opened the page for new accounts.
        var wantsNewAccount = false
        /// Whether the user submitted the page of a B2C policy that edits a profile.
        var hasEdited = false
        /// Whether the user confirmed having started the sign-in on the device.
        var isConfirmed = false
        var started = Date.now

        /// Whether the client requested no pages.
        var isSilent: Bool { request.prompts.contains("none") }
    }

    private let state = Mutex(State())

    /// Runs the body with exclusive access to the state.
    func with<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        state.withLock { state in
            body(&state)
        }
    }
}

/// An account in a browser session.
struct SignedIn: Sendable, Equatable {
    /// The proof that tenants with mandatory multi-factor authentication require.
    static let secondProof = "mfa"

    var username: String
    var at: Date
    /// The satisfied authentication contexts, such as `c1`, and `secondProof`.
    var proofs: Set<String> = []
}

extension Ledger {
    private static var longestInteraction: TimeInterval { 3600 }
    private static var mostInteractions: Int { 10_000 }

    /// Returns a page of an interaction, which the user's next request continues.
    func page(_ interaction: Interaction, _ visit: Visit, _ body: (InteractionForm) -> HTML) -> Response {
        let id = newSecret(bytes: 16)
        with { state in
            if state.interactions.count >= Self.mostInteractions {
                let oldest = Date.now.addingTimeInterval(-Self.longestInteraction)
                state.interactions = state.interactions.filter { $0.value.started > oldest }
            }
            state.interactions[id] = interaction
        }
        return .page(body(InteractionForm(action: visit.path, id: id)))
    }

    func accounts(inSession id: String?) -> [SignedIn] {
        guard let id else { return [] }
        return with { $0.sessions[id] ?? [] }
    }

    /// Stores a sign-in in a browser session and returns the session's ID; creates a session if there was none.
    func remember(_ account: SignedIn, inSession id: String?) -> String {
        with { state in
            let known = id.flatMap { state.sessions[$0] == nil ? nil : $0 }
            let session = known ?? newSecret()
            state.sessions[session, default: []].removeAll { $0.username == account.username }
            state.sessions[session]?.append(account)
            return session
        }
    }

    /// Removes one account from the session, or all if the username is nil.
    func forget(_ username: String?, inSession id: String) {
        with { state in
            if let username {
                state.sessions[id]?.removeAll { $0.username.lowercased() == username.lowercased() }
            } else {
                state.sessions[id] = nil
            }
        }
    }

    /// Issues a code with this text.
    func issue(_ text: String, _ grant: Grant) -> String {
        with { state in
            state.codes = state.codes.filter { $0.value.expires.addingTimeInterval(Code.lifetime) > .now }
            state.codes[text] = Code(grant: grant)
        }
        return text
    }

    /// Looks up and marks a code in one step: if two clients send the same code, only the first gets tokens.
    func redeem(_ text: String) -> Code? {
        with { state in
            let code = state.codes[text]
            state.codes[text]?.isRedeemed = true
            return code
        }
    }

    /// Marks a single-use refresh token as used; returns false if it was used before, which revokes all tokens of its
    /// sign-in.
    func spend(refreshToken text: String) -> Bool {
        with { state in
            guard let token = state.refreshTokens[text], !token.isSpent else {
                let lineage = state.refreshTokens[text]?.grant.lineage
                for key in state.refreshTokens.keys where state.refreshTokens[key]?.grant.lineage == lineage {
                    state.refreshTokens[key]?.isRevoked = true
                }
                return false
            }
            state.refreshTokens[text]?.isSpent = true
            return true
        }
    }

    /// Revokes the tokens and browser sessions of one user, or of everyone.
    func revoke(_ username: String?) {
        let wanted = username?.lowercased()
        func isMeant(_ account: SignedIn) -> Bool { wanted == nil || account.username.lowercased() == wanted }
        with { state in
            for (key, token) in state.refreshTokens where isMeant(token.grant.signedIn) {
                state.refreshTokens[key]?.isRevoked = true
            }
            state.accessTokens = state.accessTokens.filter { !isMeant($0.value.grant.signedIn) }
            state.sessions = state.sessions.mapValues { $0.filter { !isMeant($0) } }
            state.interactions = [:]
        }
    }
}
