import FoundationEssentials
import Synchronization

/// Everything the authority remembers while it runs: sessions, codes, refresh tokens, consent.
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

    /// The only way to the state, so that what is read and what is changed go together.
    func with<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        state.withLock { state in
            body(&state)
        }
    }
}

/// Someone whom a browser session knows.
struct SignedIn: Sendable, Equatable {
    /// The proof that tenants want which ask everybody for a second one.
    static let secondProof = "mfa"

    var username: String
    var at: Date
    /// The authentication contexts that were proved, such as `c1`, and `secondProof`.
    var proofs: Set<String> = []
}

/// What a person allowed a client, from which codes, devices and refresh tokens get their tokens.
struct Grant: Sendable {
    var signedIn: SignedIn
    var clientID: String
    /// Where the person signed in; a refresh token may be used at another realm.
    var realm: Realm
    var scopes: ScopeRequest
    var claims: ClaimsRequest
    var nonce: String?
}

/// An authorization code: good once, for a short while, with its verifier.
struct IssuedCode: Sendable {
    static let lifetime: TimeInterval = 300

    var grant: Grant
    var redirectURI: String
    var challenge: String
    var expires = Date.now.addingTimeInterval(lifetime)
    var isRedeemed = false
}

/// A refresh token; using it issues a new one and leaves it valid, as Entra does, unless they are good once.
struct RefreshToken: Sendable {
    var grant: Grant
    var family: String?
    /// What all that descend from one sign-in have in common.
    var lineage: String
    var isSpent = false
    var isRevoked = false
}

/// A sign-in that has not come to its end: what it is for and how far it got.
struct Interaction: Sendable {
    enum Purpose: Sendable {
        case authorization(SignInRequest)
        /// Approving the device with this user code.
        case device(String)
    }

    var purpose: Purpose
    var signedIn: SignedIn?
    /// The person asked for the sign-in page although an account could be picked.
    var wantsOtherAccount = false
    var hasConsented = false
    /// The person went to the page for new accounts.
    var wantsNewAccount = false
    /// The person sent the page of a B2C policy that edits a profile.
    var hasEdited = false
    /// The person said that it was they who started the sign-in on the device.
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

    /// Remembers a sign-in in a browser session and returns the session's id, a new one if there was none.
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

    /// Ends the session of one account, or of all if no username is given.
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

    /// Spends a refresh token that is good once; false if it was spent before, which takes all of its sign-in with it.
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

    /// Makes refresh tokens and browser sessions of one user, or of everyone, useless.
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
