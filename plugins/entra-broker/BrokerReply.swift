import Addresses
import Claims
import JSON
import MicrosoftIdentity
import Secrets

/// An account of the broker.
struct BrokerAccount: Equatable, Sendable {
    /// The account's JSON, which is sent back to the broker unchanged.
    let whole: JSONValue

    var username: String { whole["username"]?.string ?? "" }
    var name: String? { whole["name"]?.filled }
    /// `uid.utid`; empty if the broker doesn't send it.
    var homeAccountID: String { whole["homeAccountId"]?.string ?? "" }
    var localAccountID: String? { whole["localAccountId"]?.filled }
    /// The tenant in which the account is used.
    var realm: String? { whole["realm"]?.filled }
    /// Entra's `client_info`; nil until the client has received a token.
    var clientInfo: String? { whole["clientInfo"]?.filled }
    /// The authority's host, which may be an alias.
    var environment: String? { whole["environment"]?.filled }

    /// Parses an account; nil if nothing identifies it.
    init?(_ json: JSONValue) {
        guard json.members != nil else { return nil }
        whole = json
        guard !username.isEmpty || !homeAccountID.isEmpty else { return nil }
    }

    /// Whether a name from the user means this account: its user name or an identifier.
    func isNamed(_ name: String) -> Bool {
        let wanted = name.lowercased()
        let names = [username, homeAccountID, localAccountID].compactMap(\.self)
        return names.contains { !$0.isEmpty && $0.lowercased() == wanted }
    }
}

/// The broker's answer to a request for a token; the tokens' signatures aren't verified, because they come from the
/// broker itself.
struct BrokerToken: Equatable, Sendable {
    /// The longest accepted lifetime, in seconds; brokers have sent expiry times far beyond it.
    static let longestLife = 86_400
    /// Smaller expiry times are in seconds since 1970, others in milliseconds.
    private static let leastMilliseconds = 100_000_000_000
    /// Longer than clocks differ, but shorter than Entra's tokens live; an expiry time within this limit is checked
    /// against the token itself.
    private static let shortLife = 120

    let accessToken: Secret
    /// When the token expires, in seconds since 1970.
    let expiresOn: Int
    let scopes: [String]
    let identity: BrokerIdentity

    /// Parses an answer without an error.
    ///
    /// - Parameters:
    ///   - json: The reply.
    ///   - asked: The requested account; nil for any.
    ///   - known: The broker's accounts, which supply details that the answer lacks.
    ///   - now: The current time in seconds since 1970.
    /// - Throws: `failed` if there is no usable token, `refused` if its account is unknown or isn't the requested one.
    init(
        _ json: JSONValue, asked: BrokerAccount?, among known: [BrokerAccount] = [], now: Int
    ) throws(BrokerError) {
        guard let response = json["brokerTokenResponse"], let token = response["accessToken"]?.filled,
            token.utf8.allSatisfy(\.isVisibleASCII)
        else { throw BrokerError(.failed, "the broker returned no token") }
        guard response["accessTokenType"]?.wholeNumber ?? 0 == 0 else {
            throw BrokerError(.refused, "the broker returned a token that is bound to a key")
        }
        identity = try BrokerIdentity(response, asked: asked, among: known)
        accessToken = Secret(token)
        scopes = Self.scopes(response["grantedScopes"])
        guard let end = Self.end(response["expiresOn"]?.wholeNumber, of: token, now: now), end > now else {
            throw BrokerError(.failed, "the broker returned a token that has expired")
        }
        expiresOn = min(end, now + Self.longestLife)
    }

    private static func scopes(_ json: JSONValue?) -> [String] {
        let texts = json?.elements.isEmpty == false ? json?.elements.compactMap(\.string) ?? [] : [json?.string ?? ""]
        return texts.flatMap { $0.pieces(between: " ").map(String.init) }
    }

    /// Returns the reported expiry time if it is plausible, else the one in the token itself.
    private static func end(_ told: Int?, of token: String, now: Int) -> Int? {
        let told = told.map { $0 < leastMilliseconds ? $0 : $0 / 1000 }
        let isLikely = told.map { $0 <= now || (now + shortLife...now + longestLife).contains($0) } ?? false
        guard !isLikely else { return told }
        // himmelblau before 2026-05 added seconds to milliseconds.
        let own = WebToken.claims(of: token)?["exp"]?.wholeNumber
        return own ?? told
    }
}

/// The account of a token, according to the broker's answer.
struct BrokerIdentity: Equatable, Sendable {
    /// `uid.utid` in lower case.
    let homeAccountID: String
    /// The account's object ID in the token's tenant.
    let localAccountID: String?
    /// The token's tenant; nil if the answer doesn't say.
    let realm: String?
    let username: String?
    let name: String?
    let clientInfo: String?

    /// Parses the token's account, and rejects another account's, which Microsoft's runtime accepts.
    init(_ response: JSONValue, asked: BrokerAccount?, among known: [BrokerAccount]) throws(BrokerError) {
        let info = response["clientInfo"]?.filled
        let claims = response["idToken"]?.string.flatMap(WebToken.claims(of:))
        let owner = info.flatMap(ClientInfo.init)
        let object = claims?["oid"]?.filled?.lowercased()
        let tenant = claims?["tid"]?.filled?.lowercased()
        let wanted = asked.flatMap { $0.homeAccountID.isEmpty ? nil : $0.homeAccountID.lowercased() }
        if let home = owner?.homeAccountID {
            // In the home tenant, the object ID is the account's `uid`.
            if let object, let tenant, tenant == owner?.utid?.lowercased(), object != owner?.uid?.lowercased() {
                throw BrokerError(.refused, "the broker's answer names two accounts")
            }
            guard wanted == nil || wanted == home else { throw BrokerError.otherAccount }
            homeAccountID = home
        } else if let object, let tenant {
            let own = "\(object).\(tenant)"
            let isGuest = object == asked?.localAccountID?.lowercased() && tenant == asked?.realm?.lowercased()
            guard wanted == nil || wanted == own || isGuest else { throw BrokerError.otherAccount }
            homeAccountID = wanted ?? own
        } else {
            throw BrokerError(.refused, "the broker doesn't say whose the token is")
        }
        // The ID token isn't verified, but a broker that says both is wrong about one.
        let told = claims?["preferred_username"]?.filled ?? claims?["upn"]?.filled
        if let told, let name = asked?.username, !name.isEmpty, told.lowercased() != name.lowercased() {
            throw BrokerError.otherAccount
        }
        let home = homeAccountID
        let same = asked ?? known.first { $0.homeAccountID.lowercased() == home }
        localAccountID = object ?? same?.localAccountID
        realm = tenant
        username = told ?? same?.username
        name = claims?["name"]?.filled ?? same?.name
        clientInfo = info.flatMap { Base64URL.isEncoded($0) ? $0 : nil }
    }
}

extension JSONValue {
    /// The string, unless it is empty.
    var filled: String? { string.flatMap { $0.isEmpty ? nil : $0 } }
}
