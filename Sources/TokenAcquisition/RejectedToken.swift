import Addresses
import JSON
import Rules
import Secrets
import TokenStore

/// A token that was refused at one place: a host, or a path on a host if the consumer sends paths.
struct RejectedToken: Equatable, Sendable {
    /// Seconds after a renewal in which a refusal means that renewing doesn't help; no other renewal is tried for it.
    static let window = 60
    /// Seconds for which a refusal counts; no access token is valid for much longer.
    static let lifetime = 86_400
    /// The longest claims that are stored, in bytes.
    static let longestClaims = 8192

    /// The digest of the token; empty if the token isn't known.
    var token: String
    /// When it was refused, in seconds since 1970.
    var on: Int
    /// When the token was renewed, if renewing it again doesn't help for now.
    var renewed: Int?
    /// The claims that the server asked for when it refused the token.
    var claims: String?

    /// Returns the seconds until renewing may help again; nil if it may now.
    func remaining(at now: Int) -> Int? {
        guard let renewed, (0..<Self.window).contains(now - renewed) else { return nil }
        return renewed + Self.window - now
    }

    /// The part that remains once another token was acquired: that this one was refused.
    var settled: RejectedToken { RejectedToken(token: token, on: on) }

    /// Whether this refusal rules out a token at the place.
    func excludes(_ token: AccessTokenRecord) -> Bool {
        if token.secret.reveal().shortDigest == self.token { return true }
        guard claims != nil, let renewed = token.other[Rejection.renewedMember] else { return false }
        return renewed.text != Rejection.renewedWithClaims
    }
}

extension RejectedToken {
    init?(_ json: JSONValue) {
        guard let token = json["token"]?.text, let on = json["on"]?.time else { return nil }
        self.init(token: token, on: on, renewed: json["renewed"]?.time, claims: json["claims"]?.text)
    }

    var json: JSONValue {
        var members: [String: JSONValue] = ["token": .string(token), "on": .string(String(on))]
        members["renewed"] = renewed.map { .string(String($0)) }
        members["claims"] = claims.map { .string($0) }
        return .object(members)
    }
}

/// The refusals of tokens that a refresh token was redeemed for, as stored in its record: by client, because a family's
/// refresh token continues to serve the other clients, and by place.
struct RejectedTokens {
    private static let member = "lanyard_refusals"
    /// The highest number of places that are stored.
    static let most = 32

    /// Returns the refusals that apply to a request now: those at its path, then those at its host.
    static func standing(in token: RefreshTokenRecord, for request: TokenRequest, now: Int) -> [RejectedToken] {
        let places = places(token, request.clientID)
        // Most tokens were never refused, and digests take time.
        return places.isEmpty ? [] : request.places.compactMap { places[$0] }.filter { isAlive($0, now) }
    }

    /// Returns the digests of the tokens that were refused anywhere.
    static func tokens(in token: RefreshTokenRecord, now: Int) -> Set<String> {
        let clients = (token.other[member]?.members ?? [:]).keys
        return Set(clients.flatMap { places(token, $0).values.filter { isAlive($0, now) }.map(\.token) })
    }

    /// Records a refusal at the request's place, replacing an older one there.
    static func note(_ refusal: RejectedToken, in token: inout RefreshTokenRecord, for request: TokenRequest) {
        var places = places(token, request.clientID).filter { isAlive($0.value, refusal.on) }
        places[request.places[0]] = refusal
        put(places, into: &token, request.clientID.clientKey)
    }

    /// Clears the refusals that a new token resolves: all at its place, and the same claims elsewhere.
    ///
    /// The digests of refused tokens stay: the refused token is stored until the new one is, and a process that reads
    /// the store in between must not use it. If the authority returned the refused token again, it counts as new.
    static func settle(
        in token: inout RefreshTokenRecord, for request: TokenRequest, by accessToken: Secret, now: Int
    ) {
        let here = request.places
        var places = places(token, request.clientID).filter { isAlive($0.value, now) }
        for (place, refusal) in places {
            if here.contains(place) {
                places[place] = refusal.token == accessToken.reveal().shortDigest ? nil : refusal.settled
            } else if let claims = request.claims, refusal.claims == claims {
                places[place] = refusal.settled
            }
        }
        put(places, into: &token, request.clientID.clientKey)
    }

    /// Copies the list of refused tokens from a record that is about to be replaced.
    static func carry(from replaced: RefreshTokenRecord, to token: inout RefreshTokenRecord, now: Int) {
        for client in (replaced.other[member]?.members ?? [:]).keys {
            let old = places(replaced, client).filter { isAlive($0.value, now) }.mapValues(\.settled)
            put(old.merging(places(token, client)) { $1 }, into: &token, client)
        }
    }

    private static func isAlive(_ refusal: RejectedToken, _ now: Int) -> Bool {
        (0..<RejectedToken.lifetime).contains(now - refusal.on)
    }

    private static func places(_ token: RefreshTokenRecord, _ clientID: String) -> [String: RejectedToken] {
        let stored = token.other[member]?.members?[clientID.clientKey]?.members ?? [:]
        return stored.compactMapValues(RejectedToken.init)
    }

    private static func put(
        _ places: [String: RejectedToken], into token: inout RefreshTokenRecord, _ client: String
    ) {
        let newest = places.sorted { ($0.value.on, $0.key) > ($1.value.on, $1.key) }.prefix(most)
        let members = Dictionary(uniqueKeysWithValues: newest.map { ($0.key, $0.value.json) })
        var clients = token.other[member]?.members ?? [:]
        clients[client] = members.isEmpty ? nil : .object(members)
        token.other[member] = clients.isEmpty ? nil : .object(clients)
    }
}

extension TokenRequest {
    fileprivate var resource: String { scopes.first?.resourceOfScope ?? "" }

    /// Digests of where the token is presented: the path first if there is one, then the host; a path may be private.
    fileprivate var places: [String] {
        let whole = ["\(resource)\n\(host ?? "")".shortDigest]
        guard let path, !path.isEmpty else { return whole }
        return ["\(resource)\n\(host ?? "")\n\(path)".shortDigest] + whole
    }
}
