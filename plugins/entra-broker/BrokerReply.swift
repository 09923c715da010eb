import Addresses
import JSON
import MicrosoftIdentity
import Secrets

/// An account that the broker knows.
struct BrokerAccount: Equatable, Sendable {
    /// All that the broker said of it, which goes back to it as it is.
    let whole: JSONValue
    let username: String
    let name: String?
    /// `uid.utid`; empty if the broker doesn't say.
    let homeAccountID: String
    let localAccountID: String?
    /// The tenant where the account is used.
    let realm: String?
    /// Entra's `client_info`; nil until the client has got a token.
    let clientInfo: String?
    /// The authority's host, which may be an alias.
    let environment: String?

    /// Reads an account; nil if nothing says whose it is.
    init?(_ json: JSONValue) {
        guard json.members != nil else { return nil }
        whole = json
        username = json["username"]?.string ?? ""
        homeAccountID = json["homeAccountId"]?.string ?? ""
        guard !username.isEmpty || !homeAccountID.isEmpty else { return nil }
        name = json["name"]?.filled
        localAccountID = json["localAccountId"]?.filled
        realm = json["realm"]?.filled
        clientInfo = json["clientInfo"]?.filled
        environment = json["environment"]?.filled
    }

    /// Whether a person's word for an account means this one: its user name or an identifier.
    func isNamed(_ name: String) -> Bool {
        let wanted = name.lowercased()
        let names = [username, homeAccountID, localAccountID].compactMap(\.self)
        return names.contains { !$0.isEmpty && $0.lowercased() == wanted }
    }
}

/// What the broker answered to a request for a token.
struct BrokerToken: Equatable, Sendable {
    /// The longest that a token is kept, in seconds; brokers have sent ends far beyond.
    static let longestLife = 86_400
    /// Ends below this are seconds since 1970, others milliseconds.
    private static let leastMilliseconds = 100_000_000_000
    /// What takes Entra's tokens longer to pass than anybody's clock is off; ends that are nearer are checked by the token itself.
    private static let shortLife = 120

    let accessToken: Secret
    /// When it ends, in seconds since 1970.
    let expiresOn: Int
    let scopes: [String]
    let identity: BrokerIdentity

    /// Reads an answer that has no error.
    ///
    /// - Parameters:
    ///   - json: the reply.
    ///   - asked: the account that was asked for; nil if it was anybody's.
    ///   - known: the accounts that the broker has, which tell what the answer doesn't say of its own.
    ///   - now: seconds since 1970.
    /// - Throws: `failed` if there is no usable token, `refused` if it isn't told whose it is, or if it is another account's.
    init(
        _ json: JSONValue, asked: BrokerAccount?, among known: [BrokerAccount] = [], now: Int
    ) throws(BrokerFailure) {
        guard let response = json["brokerTokenResponse"], let token = response["accessToken"]?.filled,
            token.isPlainToken
        else { throw BrokerFailure(.failed, "the broker returned no token") }
        guard response["accessTokenType"]?.wholeNumber ?? 0 == 0 else {
            throw BrokerFailure(.refused, "the broker returned a token that is bound to a key")
        }
        identity = try BrokerIdentity(response, asked: asked, among: known)
        accessToken = Secret(token)
        scopes = Self.scopes(response["grantedScopes"])
        guard let end = Self.end(response["expiresOn"]?.wholeNumber, of: token, now: now), end > now else {
            throw BrokerFailure(.failed, "the broker returned a token that has expired")
        }
        expiresOn = min(end, now + Self.longestLife)
    }

    private static func scopes(_ json: JSONValue?) -> [String] {
        let texts = json?.elements.isEmpty == false ? json?.elements.compactMap(\.string) ?? [] : [json?.string ?? ""]
        return texts.flatMap { $0.pieces(between: " ").map(String.init) }
    }

    /// The end that was told, unless that is nonsense: then the one that the token has in itself.
    private static func end(_ told: Int?, of token: String, now: Int) -> Int? {
        let told = told.map { $0 < leastMilliseconds ? $0 : $0 / 1000 }
        let isLikely = told.map { $0 <= now || (now + shortLife...now + longestLife).contains($0) } ?? false
        guard !isLikely else { return told }
        // himmelblau added seconds to milliseconds before 2026-05.
        let own = WebToken.claims(token)?["exp"]?.wholeNumber
        return own ?? told
    }
}

/// Who a token is for, as the broker's answer tells.
struct BrokerIdentity: Equatable, Sendable {
    /// `uid.utid`, lower case.
    let homeAccountID: String
    /// The account's object id where the token is for.
    let localAccountID: String?
    /// The tenant that the token is for; nil if the answer doesn't say.
    let realm: String?
    let username: String?
    let name: String?
    let clientInfo: String?

    /// Reads whose token it is, and refuses another account's: Microsoft's runtime lets that pass.
    init(_ response: JSONValue, asked: BrokerAccount?, among known: [BrokerAccount]) throws(BrokerFailure) {
        let info = response["clientInfo"]?.filled
        let claims = response["idToken"]?.string.flatMap(WebToken.claims)
        let told = info.flatMap { try? ClientInfo($0) }
        let object = claims?["oid"]?.filled?.lowercased()
        let tenant = claims?["tid"]?.filled?.lowercased()
        let wanted = asked.flatMap { $0.homeAccountID.isEmpty ? nil : $0.homeAccountID.lowercased() }
        if let home = told?.homeAccountID {
            // At home the object is the account itself.
            if let object, let tenant, tenant == told?.utid?.lowercased(), object != told?.uid?.lowercased() {
                throw BrokerFailure(.refused, "the broker's answer names two accounts")
            }
            guard wanted == nil || wanted == home else { throw BrokerFailure.otherAccount }
            homeAccountID = home
        } else if let object, let tenant {
            let own = "\(object).\(tenant)"
            let isGuest = object == asked?.localAccountID?.lowercased() && tenant == asked?.realm?.lowercased()
            guard wanted == nil || wanted == own || isGuest else { throw BrokerFailure.otherAccount }
            homeAccountID = wanted ?? own
        } else {
            throw BrokerFailure(.refused, "the broker doesn't say whose the token is")
        }
        let home = homeAccountID
        let same = asked ?? known.first { $0.homeAccountID.lowercased() == home }
        localAccountID = object ?? same?.localAccountID
        realm = tenant
        username = claims?["preferred_username"]?.filled ?? claims?["upn"]?.filled ?? same?.username
        name = claims?["name"]?.filled ?? same?.name
        clientInfo = info.flatMap { Base64URL.isEncoded($0) ? $0 : nil }
    }
}

/// What a JSON web token says; nobody checks its signature, since it came from the broker itself.
private enum WebToken {
    static func claims(_ text: String) -> JSONValue? {
        let parts = text.pieces(between: ".", omittingEmpty: false)
        guard parts.count == 3, let bytes = Base64URL.decode(parts[1]) else { return nil }
        return JSONValue(bytes: bytes, atMost: 65_536)
    }
}

extension JSONValue {
    /// The text of a string that isn't empty.
    var filled: String? { string.flatMap { $0.isEmpty ? nil : $0 } }
}

extension String {
    /// Whether it has only what tokens have: visible ASCII.
    fileprivate var isPlainToken: Bool { utf8.allSatisfy { (0x21...0x7E).contains($0) } }
}
