import FoundationEssentials
import PluginWire
import Secrets

/// A successful answer of the token endpoint (RFC 6749, 5.1; OpenID Connect Core 1.0, 3.1.3.3; Entra's own members).
struct TokenResponse: Sendable, Equatable {
    /// Longest lifetime believed, ten years; past it a sum with a date could overflow.
    private static let longestLifetime = 315_360_000
    /// What is assumed where nothing is said.
    private static let usualLifetime = 3_600
    /// More would not fit the line that it is handed on in.
    private static let longestToken = 60_000

    let accessToken: Secret
    let expiresIn: Int
    let extendedExpiresIn: Int?
    let refreshIn: Int?
    let refreshToken: Secret?
    let familyID: String?
    let idToken: Secret?
    let clientInfo: String?
    /// Nil where the authority didn't say: then what was asked for was granted.
    let scope: String?
    /// When the authority sent it, by its own clock.
    let sent: Date?

    /// Reads an answer.
    ///
    /// - Throws: what the authority refused with (as the stage has it), or `unavailable` where the answer is no JSON.
    init(
        _ answer: HTTPAnswer, from host: String, stage: OAuthFailure.Stage,
        explaining explain: (OAuthFailure) -> PluginError? = { _ in nil }
    ) throws(PluginError) {
        if let failure = OAuthFailure(answer) { throw explain(failure) ?? failure.pluginError(stage) }
        guard answer.status == 200, let members = answer.json(Members.self) else {
            throw PluginError(
                .unavailable, "\(host) answered with something that is no token response (HTTP \(answer.status))",
                hint: "check that no proxy or network sign-in page stands between")
        }
        guard let token = members.accessToken, !token.isEmpty else {
            throw PluginError(
                .invalidRequest, "\(host) gave no access token",
                hint: "name a scope of the API that the token is for; for B2C the client id itself is one")
        }
        guard members.tokenType.map({ $0.lowercased() == "bearer" }) ?? true else {
            throw PluginError(
                .internal,
                "\(host) gave a token of a type that cannot be used: "
                    + (members.tokenType ?? "").displayable(limit: 40))
        }
        accessToken = try Self.secret(token, from: host)
        refreshToken = if let text = members.refreshToken { try Self.secret(text, from: host) } else { nil }
        idToken = if let text = members.idToken { try Self.secret(text, from: host) } else { nil }
        clientInfo = members.clientInfo
        familyID = members.familyID
        scope = members.scope
        sent = answer.date
        let now = answer.date ?? .now
        expiresIn = Self.lifetime(members.expiresIn, until: members.expiresOn, now: now) ?? Self.usualLifetime
        extendedExpiresIn = Self.lifetime(members.extendedExpiresIn, until: members.extendedExpiresOn, now: now)
        refreshIn = Self.lifetime(members.refreshIn, until: members.refreshOn, now: now)
    }

    private static func lifetime(_ seconds: LenientNumber?, until time: LenientNumber?, now: Date) -> Int? {
        // Bounded first: not every number of seconds is one that can be subtracted from, or be an integer again.
        let left = time.map { min(max(Double($0.value) - now.timeIntervalSince1970, 0), Double(longestLifetime)) }
        guard let value = seconds?.value ?? left.map({ Int($0.rounded(.down)) }) else { return nil }
        return min(max(value, 0), longestLifetime)
    }

    private static func secret(_ text: String, from host: String) throws(PluginError) -> Secret {
        guard text.utf8.count <= longestToken, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw PluginError(.internal, "\(host) gave a token that is too long or not of printable characters")
        }
        return Secret(text)
    }

    private struct Members: Decodable {
        var accessToken: String?
        var tokenType: String?
        var refreshToken: String?
        var idToken: String?
        var scope: String?
        var familyID: String?
        var clientInfo: String?
        var expiresIn: LenientNumber?
        var expiresOn: LenientNumber?
        var extendedExpiresIn: LenientNumber?
        var extendedExpiresOn: LenientNumber?
        var refreshIn: LenientNumber?
        var refreshOn: LenientNumber?

        enum CodingKeys: String, CodingKey {
            case accessToken = "access_token"
            case tokenType = "token_type"
            case refreshToken = "refresh_token"
            case idToken = "id_token"
            case scope
            case familyID = "foci"
            case clientInfo = "client_info"
            case expiresIn = "expires_in"
            case expiresOn = "expires_on"
            case extendedExpiresIn = "ext_expires_in"
            case extendedExpiresOn = "ext_expires_on"
            case refreshIn = "refresh_in"
            case refreshOn = "refresh_on"
        }
    }
}
