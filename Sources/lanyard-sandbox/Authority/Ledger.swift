import FoundationEssentials
import Synchronization

/// The authority's state: sessions, codes, refresh tokens and consent.
final class Ledger: Sendable {
    struct State: Sendable {
        var sessions: [String: [SignedIn]] = [:]
        var interactions: [String: Interaction] = [:]
        var codes: [String: IssuedCode] = [:]
        var refreshTokens: [String: RefreshToken] = [:]
        var devices: [String: DeviceGrant] = [:]
        var consents: Set<String> = []
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

/// A user's grant to a client, on which codes, devices and refresh tokens are based.
struct Grant: Sendable {
    var signedIn: SignedIn
    var clientID: String
    /// The realm of the sign-in; a refresh token may be used at another one.
    var realm: Realm
    var scopes: ScopeRequest
    var claims: ClaimsRequest
    var nonce: String?
}

/// An authorization code: it can be used once, for a short time, with its verifier.
struct IssuedCode: Sendable {
    static let lifetime: TimeInterval = 300

    var grant: Grant
    var redirectURI: String
    var challenge: String
    var expires = Date.now.addingTimeInterval(lifetime)
    var isRedeemed = false
}

/// A refresh token; using it issues a new one and leaves it valid, as in Entra, unless tokens are single-use.
struct RefreshToken: Sendable {
    var grant: Grant
    var family: String?
    /// The ID shared by all tokens of one sign-in.
    var lineage: String
    var isSpent = false
    var isRevoked = false
}

/// A sign-in in progress: its purpose and its state.
struct Interaction: Sendable {
    enum Purpose: Sendable {
        case authorization(SignInRequest)
        /// The approval of the device with this user code.
        case device(String)
    }

    var purpose: Purpose
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
}

extension Ledger {
    private static let longestInteraction: TimeInterval = 3600
    private static let mostInteractions = 10_000

    func begin(_ interaction: Interaction) -> String {
        let id = newSecret(bytes: 16)
        with { state in
            if state.interactions.count >= Self.mostInteractions {
                let oldest = Date.now.addingTimeInterval(-Self.longestInteraction)
                state.interactions = state.interactions.filter { $0.value.started > oldest }
            }
            state.interactions[id] = interaction
        }
        return id
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
            var accounts = state.sessions[session] ?? []
            accounts.removeAll { $0.username == account.username }
            accounts.append(account)
            state.sessions[session] = accounts
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

    func issue(_ code: IssuedCode) -> String {
        let text = "1." + newSecret(bytes: 48)
        with { state in
            state.codes = state.codes.filter { $0.value.expires.addingTimeInterval(IssuedCode.lifetime) > .now }
            state.codes[text] = code
        }
        return text
    }

    func issue(_ token: RefreshToken) -> String {
        let text = "1." + newSecret(bytes: 64)
        with { $0.refreshTokens[text] = token }
        return text
    }

    /// Marks a single-use refresh token as used; returns false if it was used before, which revokes all tokens of its
    /// sign-in.
    func spend(refreshToken text: String) -> Bool {
        with { state in
            guard let token = state.refreshTokens[text], !token.isSpent else {
                let lineage = state.refreshTokens[text]?.lineage
                for key in state.refreshTokens.keys where state.refreshTokens[key]?.lineage == lineage {
                    state.refreshTokens[key]?.isRevoked = true
                }
                return false
            }
            state.refreshTokens[text]?.isSpent = true
            return true
        }
    }

    /// Revokes the refresh tokens and browser sessions of one user, or of everyone.
    func revoke(_ username: String?) {
        let wanted = username?.lowercased()
        with { state in
            for key in state.refreshTokens.keys
            where wanted == nil || state.refreshTokens[key]?.grant.signedIn.username.lowercased() == wanted {
                state.refreshTokens[key]?.isRevoked = true
            }
            for key in state.sessions.keys {
                state.sessions[key]?.removeAll { wanted == nil || $0.username.lowercased() == wanted }
            }
            state.interactions = [:]
        }
    }
}
